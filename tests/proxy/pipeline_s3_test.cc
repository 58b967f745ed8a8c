// S3 requests on their way through the pipeline: token carriers, several keys, staging.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "proxy/s3_front.h"
#include "tests/proxy/pipeline_fixture.h"

namespace fenceline::proxy {
namespace {

using Fields = std::initializer_list<std::pair<std::string, std::string>>;

class PipelineS3Test : public PipelineTest {
 protected:
  PipelineS3Test() {
    Route& route = add_route("media", "/media/{key...}", "media/{key...}");
    route.methods = {"GET", "HEAD", "PUT", "POST", "DELETE"};
    route.max_body_bytes = 10'000;
    route.s3 = std::make_shared<S3Front>(
        S3Paths(route.pattern, {"s3.test"}),
        S3FrontOptions{.clients = {},
                       .anonymous = true,
                       .must_sign = {"fencing-token"},
                       .fenced = true,
                       .now = [] { return base::aws::SystemTime(std::chrono::seconds(0)); }});
  }

  /// A request with a token as every S3 client can send it.
  base::Reply send(std::string_view method, const std::string& target, const std::string& token,
                   std::string_view body = {}) {
    auto call = start(method, target, {{"X-Amz-Security-Token", token}});
    return end(call, body);
  }

  /// Splits the target, which the fixture takes as a path.
  std::shared_ptr<Call> start(std::string_view method, const std::string& target, Fields fields) {
    targets_.push_back(std::make_unique<std::string>(target));
    const std::string_view kept = *targets_.back();
    const std::size_t mark = std::min(kept.find('?'), kept.size());
    query_ = kept.substr(std::min(mark + 1, kept.size()));
    return PipelineTest::start(method, kept.substr(0, mark), fields, query_);
  }

  base::Reply end(const std::shared_ptr<Call>& call, std::string_view body) {
    if (!body.empty()) {
      call->body.feed(std::string(body));
      poll();
    }
    call->body.end();
    settle();
    EXPECT_TRUE(call->reply.has_value()) << "no answer";
    return call->reply ? std::move(*call->reply) : base::Reply{};
  }

  static std::string deletion_of(const std::vector<std::string>& keys) {
    std::string xml = "<Delete>";
    for (const std::string& key : keys) {
      xml += "<Object><Key>" + key + "</Key></Object>";
    }
    return xml + "</Delete>";
  }

  std::vector<std::unique_ptr<std::string>> targets_;
  std::string_view query_;
};

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
  const auto refused = [this](Fields fields, std::string_view code) {
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

}  // namespace
}  // namespace fenceline::proxy
