// S3 requests on their way through the pipeline: token carriers, several keys, staging.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/proxy/s3_pipeline_fixture.h"

namespace fenceline::proxy {
namespace {

TEST_F(PipelineS3Test, TheSessionTokenIsTheToken) {
  EXPECT_EQ(send("PUT", "/media/a", "fence-5").status, 201);
  const base::Reply stale = send("PUT", "/media/a", "fence-4");
  EXPECT_EQ(stale.status, 412);
  EXPECT_EQ(field(stale, "Fencing-Highest"), "5");
  EXPECT_NE(text(stale).find("<Code>PreconditionFailed</Code>"), std::string::npos) << text(stale);
  EXPECT_EQ(send("PUT", "/media/b", "fence-4").status, 201) << "another object, another fence";
  EXPECT_EQ(backend_->last_stamp->token.value(), 4);
}

TEST_F(PipelineS3Test, OneObjectHasOneKeyHoweverItIsNamed) {
  EXPECT_EQ(send("PUT", "/media/a%2Fb//c", "fence-5").status, 201);
  EXPECT_EQ(send("PUT", "/media/%61/b//c", "fence-4").status, 412);
  auto by_host =
      start("PUT", "/a/b//c", {{"Host", "media.s3.test:80"}, {"X-Amz-Security-Token", "fence-4"}});
  EXPECT_EQ(end(by_host, {}).status, 412);
}

TEST_F(PipelineS3Test, TokensThatDifferOrAreNoneAreRefused) {
  const auto refused = [this](const Fields& fields, std::string_view code) {
    auto call = start("PUT", "/media/a", fields);
    const base::Reply reply = end(call, {});
    EXPECT_EQ(reply.status, 400);
    EXPECT_NE(text(reply).find(code), std::string::npos) << text(reply);
    return true;
  };
  refused({{"X-Amz-Security-Token", "fence-5"}, {"Fencing-Token", "6"}}, "InvalidToken");
  refused({{"X-Amz-Security-Token", "FwoGZXIvYXdz"}}, "InvalidToken");
  refused({{"X-Amz-Security-Token", "fence-05"}}, "InvalidToken");
  refused({{"X-Amz-Security-Token", "fence-5"}, {"X-Amz-Security-Token", "fence-5"}},
          "InvalidToken");
  EXPECT_TRUE(backend_->events.empty());
  auto both =
      start("PUT", "/media/a", {{"X-Amz-Security-Token", "fence-5"}, {"Fencing-Token", "5"}});
  EXPECT_EQ(end(both, {}).status, 201);
}

TEST_F(PipelineS3Test, EveryWriteOfAnObjectNeedsAToken) {
  for (const auto& [method, target] :
       std::vector<std::pair<std::string, std::string>>{{"PUT", "/media/a"},
                                                        {"DELETE", "/media/a"},
                                                        {"POST", "/media/a?uploads"},
                                                        {"PUT", "/media/a?partNumber=1&uploadId=u"},
                                                        {"POST", "/media/a?uploadId=u"},
                                                        {"PUT", "/media/a?tagging"}}) {
    SCOPED_TRACE(target);
    auto call = start(method, target, {});
    EXPECT_EQ(end(call, {}).status, 428);
  }
  auto call = start("GET", "/media/a", {});
  EXPECT_EQ(end(call, {}).status, 200);
}

TEST_F(PipelineS3Test, AMultiDeleteIsAllOrNothing) {
  EXPECT_EQ(send("PUT", "/media/b", "fence-7").status, 201);
  backend_->events.clear();
  const base::Reply stale = send("POST", "/media/?delete", "fence-6", deletion_of({"a", "b", "c"}));
  EXPECT_EQ(stale.status, 412);
  EXPECT_NE(text(stale).find("<FencingKey>media/b</FencingKey>"), std::string::npos) << text(stale);
  EXPECT_EQ(field(stale, "Fencing-Highest"), "7");
  EXPECT_TRUE(backend_->events.empty()) << backend_->events.front();
  EXPECT_EQ(send("PUT", "/media/a", "fence-1").status, 201) << "no mark of another key was raised";
  EXPECT_EQ(send("POST", "/media?delete", "fence-8", deletion_of({"b", "a", "a"})).status, 201);
  EXPECT_EQ(send("PUT", "/media/a", "fence-7").status, 412);
  EXPECT_EQ(send("PUT", "/media/b", "fence-7").status, 412);
  EXPECT_EQ(send("PUT", "/media/c", "fence-1").status, 201);
}

TEST_F(PipelineS3Test, AMultiDeleteWithoutKeysIsRefused) {
  EXPECT_EQ(send("POST", "/media?delete", "fence-8", "<Delete></Delete>").status, 400);
  EXPECT_EQ(send("POST", "/media?delete", "fence-8", "no xml").status, 400);
  auto without = start("POST", "/media?delete", {});
  EXPECT_EQ(end(without, deletion_of({"a"})).status, 428);
}

TEST_F(PipelineS3Test, AMultiDeleteInDoubtIsOnRecordForEachKey) {
  backend_->intent = backends::WriteIntent{.data = "", .shared = true};
  backend_->commit_fails_with = base::Error{.kind = base::ErrorKind::kUpstreamTimeout,
                                            .detail = "no answer",
                                            .applied = base::Applied::kUnknown};
  EXPECT_EQ(send("POST", "/media?delete", "fence-5", deletion_of({"a", "b"})).status, 504);
  backend_->commit_fails_with.reset();
  backend_->can.settle_after.reset();
  EXPECT_EQ(send("PUT", "/media/a", "fence-6").status, 503);
  EXPECT_EQ(send("PUT", "/media/b", "fence-6").status, 503);
  EXPECT_EQ(send("PUT", "/media/c", "fence-6").status, 201);
}

TEST_F(PipelineS3Test, AMultiDeleteIsOnRecordForAllKeysInOneGo) {
  backend_->intent = backends::WriteIntent{.data = "", .shared = true};
  auto call = start("POST", "/media?delete", {{"X-Amz-Security-Token", "fence-5"}});
  call->body.feed(deletion_of({"a", "b", "c"}));
  call->body.end();
  poll();
  ASSERT_EQ(ledger_.waiting(), 6U) << "three raises and three records";
  for (int i = 0; i < 5; ++i) {
    ledger_.answer();
    poll();
  }
  EXPECT_EQ(backend_->events.size(), 1U) << "staged; nothing goes out before the last is there";
  ledger_.answer();
  poll();
  ASSERT_TRUE(call->reply.has_value());
  EXPECT_EQ(call->reply->status, 201);
}

TEST_F(PipelineS3Test, AMultiDeleteOfWhichOneCannotBeRecordedIsNotCommitted) {
  backend_->intent = backends::WriteIntent{.data = "", .shared = true};
  auto call = start("POST", "/media?delete", {{"X-Amz-Security-Token", "fence-5"}});
  call->body.feed(deletion_of({"a", "b"}));
  call->body.end();
  poll();
  for (int i = 0; i < 3; ++i) {
    ledger_.answer();
  }
  ledger_.refuse();
  settle();
  ASSERT_TRUE(call->reply.has_value());
  EXPECT_EQ(call->reply->status, 503);
  EXPECT_EQ(backend_->events.back(), "drop");
  EXPECT_FALSE(intents_.any_unsettled());
}

// Of 1000 bytes that may be staged.
TEST_F(PipelineS3Test, TheDocumentOfAMultiDeleteCountsAsStaged) {
  const std::string large = deletion_of({std::string(600, 'a')});
  EXPECT_EQ(send("POST", "/media?delete", "fence-5", large + std::string(400, ' ')).status, 503);
  EXPECT_TRUE(backend_->events.empty());
  auto first = start("POST", "/media?delete", {{"X-Amz-Security-Token", "fence-5"}});
  first->body.feed(std::string(large));
  first->body.end();
  poll();
  EXPECT_FALSE(first->reply.has_value()) << "the ledger has not answered";
  auto second = start("POST", "/media?delete", {{"X-Amz-Security-Token", "fence-5"}});
  second->body.feed(std::string(large));
  second->body.end();
  poll();
  ASSERT_TRUE(second->reply.has_value());
  EXPECT_EQ(second->reply->status, 503);
  settle();
  ASSERT_TRUE(first->reply.has_value());
  EXPECT_EQ(first->reply->status, 201);
  EXPECT_EQ(send("POST", "/media?delete", "fence-5", large).status, 201) << "given back";
}

TEST_F(PipelineS3Test, APartInDoubtHoldsNobodyBack) {
  backend_->commit_fails_with = base::Error{.kind = base::ErrorKind::kUpstreamTimeout,
                                            .detail = "no answer",
                                            .applied = base::Applied::kUnknown};
  EXPECT_EQ(send("PUT", "/media/a?partNumber=1&uploadId=u", "fence-5").status, 504);
  backend_->commit_fails_with.reset();
  EXPECT_EQ(send("PUT", "/media/a", "fence-6").status, 201);
  EXPECT_EQ(send("PUT", "/media/a?partNumber=2&uploadId=u", "fence-5").status, 412);
}

TEST_F(PipelineS3Test, WhatIsNotKnownIsRefused) {
  EXPECT_EQ(send("PUT", "/media/a?bogus", "fence-5").status, 501);
  EXPECT_EQ(send("PUT", "/media/a?ACL", "fence-5").status, 501);
  EXPECT_EQ(send("PUT", "/media/a?partNumber=1", "fence-5").status, 400);
  EXPECT_EQ(send("PUT", "/media?lifecycle", "fence-5").status, 501);
  EXPECT_EQ(send("DELETE", "/media", "fence-5").status, 403);
  EXPECT_TRUE(backend_->events.empty());
}

TEST_F(PipelineS3Test, OnlyACopyNeedsNoLength) {
  says_length_ = false;
  auto put = start("PUT", "/media/a", {{"X-Amz-Security-Token", "fence-5"}});
  EXPECT_EQ(end(put, {}).status, 411);
  auto copy = start("PUT", "/media/a",
                    {{"X-Amz-Security-Token", "fence-5"}, {"x-amz-copy-source", "media/b"}});
  EXPECT_EQ(end(copy, {}).status, 201);
}

// The CRC32 of "content" is none of these.
TEST_F(PipelineS3Test, ABodyThatIsNotWhatItSaysIsNotCommitted) {
  for (const auto& [name, value] : Fields{{"x-amz-checksum-crc32", "AAAAAA=="},
                                          {"x-amz-content-sha256", std::string(64, '0')},
                                          {"Content-MD5", "AAAAAAAAAAAAAAAAAAAAAA=="}}) {
    SCOPED_TRACE(name);
    auto call = start("PUT", "/media/a", {{"X-Amz-Security-Token", "fence-5"}, {name, value}});
    EXPECT_EQ(end(call, "content").status, 400);
    EXPECT_TRUE(backend_->events.empty()) << backend_->events.back();
  }
}

TEST_F(PipelineS3Test, TheChecksumOfACompletionSpeaksOfTheObject) {
  auto call = start("POST", "/media/a?uploadId=u",
                    {{"X-Amz-Security-Token", "fence-5"}, {"x-amz-checksum-crc32", "AAAAAA=="}});
  EXPECT_EQ(end(call, "<CompleteMultipartUpload/>").status, 201);
}

}  // namespace
}  // namespace fenceline::proxy
