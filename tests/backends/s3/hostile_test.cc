// What an S3 server may do with a write and its answer.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/backends/s3/s3_hostile.h"

namespace fenceline::testing {
namespace {

using backends::http::CommitMode;
using base::Applied;

TEST(S3Hostile, ALostAnswerIsFoundInTheStamp) {
  S3Hostile hostile(always(seen("\"abc\"", "request-1")), always(std::nullopt));
  const Answer answer = hostile.driver().put("a", "one");
  EXPECT_EQ(answer.status, 200) << answer.error_name();
  EXPECT_EQ(answer.field("ETag"), "\"abc\"");
  EXPECT_EQ(hostile.writes().size(), 1U) << "a write is never sent twice";
  EXPECT_NE(hostile.writes().at(0).find("x-amz-meta-fencing-request: request-1\r\n"),
            std::string::npos);
}

TEST(S3Hostile, AnAnswerThatSettlesNothingIsLookedUpToo) {
  S3Hostile hostile(always(seen("\"abc\"", "request-1")),
                    always(answer("500 Internal Server Error")));
  EXPECT_EQ(hostile.driver().put("a", "one").status, 200);
}

TEST(S3Hostile, WithoutOurStampNobodyKnows) {
  for (const auto& reaction :
       std::vector<std::optional<std::string>>{seen("\"abc\"", "request-2"), seen("\"abc\""),
                                               kAbsent, std::nullopt, answer("403 Forbidden")}) {
    S3Hostile hostile(always(reaction), always(std::nullopt));
    const Answer unknown = hostile.driver().put("a", "one");
    ASSERT_TRUE(unknown.error) << unknown.status;
    EXPECT_EQ(unknown.error->applied, Applied::kUnknown);
    EXPECT_EQ(unknown.error_name(), "upstream-failed");
  }
}

TEST(S3Hostile, ALostDeletionIsUnknown) {
  S3Hostile hostile(always(kAbsent), always(std::nullopt));
  const Answer unknown = hostile.driver().remove("a");
  ASSERT_TRUE(unknown.error);
  EXPECT_EQ(unknown.error->applied, Applied::kUnknown) << "it may come after the next write";
  EXPECT_EQ(hostile.heads(), 0U);
}

TEST(S3Hostile, ALostCopyIsFoundIfItReplacesMetadata) {
  S3Hostile hostile(always(seen("\"abc\"", "request-1")), always(std::nullopt));
  S3Call copy{
      .operation = "CopyObject",
      .key = "b",
      .fields = {{"x-amz-copy-source", "media/a"}, {"x-amz-metadata-directive", "REPLACE"}}};
  const Answer found = hostile.driver().write(copy);
  EXPECT_EQ(found.status, 200) << found.error_name();
  EXPECT_NE(found.content.find("<ETag>&quot;abc&quot;</ETag>"), std::string::npos) << found.content;
  copy.fields.pop_back();
  EXPECT_EQ(hostile.driver().write(copy).error->applied, Applied::kUnknown);
}

S3Call completion() {
  return {.operation = "CompleteMultipartUpload",
          .key = "a",
          .query = "uploadId=u",
          .content = "<CompleteMultipartUpload/>"};
}

TEST(S3Hostile, AnErrorInA200IsNoSuccess) {
  const std::string declaration = "   \n<?xml version=\"1.0\"?>\n";
  const auto answer_to_complete = [&](const std::string& body) {
    S3Hostile hostile(always(kAbsent), always(answer("200 OK", {}, body)));
    return hostile.driver().write(completion());
  };
  const Answer refused = answer_to_complete(
      declaration + "<Error><Code>PreconditionFailed</Code><Message></Message></Error>");
  EXPECT_EQ(refused.status, 412);
  EXPECT_EQ(refused.content.find("<Message></Message>"), std::string::npos) << refused.content;
  EXPECT_EQ(answer_to_complete("<Error><Code>InvalidPart</Code></Error>").status, 400);
  const Answer unknown = answer_to_complete("<Error><Code>InternalError</Code></Error>");
  ASSERT_TRUE(unknown.error) << unknown.status;
  EXPECT_EQ(unknown.error->applied, Applied::kUnknown);
  const std::string done = "<CompleteMultipartUploadResult/>";
  EXPECT_EQ(answer_to_complete(declaration + done).content, declaration + done);
}

TEST(S3Hostile, ACompletionWhoseAnswerBreaksOffIsUnknown) {
  S3Hostile hostile(
      always(kAbsent),
      always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
             "5\r\n    "));
  const Answer unknown = hostile.driver().write(completion());
  ASSERT_TRUE(unknown.error) << unknown.status << unknown.content;
  EXPECT_EQ(unknown.error->applied, Applied::kUnknown);
}

TEST(S3Hostile, AConflictOfConditionsIsTriedAgain) {
  S3Hostile hostile(
      always(seen("\"abc\"")),
      [](std::size_t times) {
        return times < 2 ? answer("409 Conflict", {},
                                  "<Error><Code>ConditionalRequestConflict</Code>"
                                  "</Error>")
                         : answer("200 OK", "ETag: \"new\"\r\n");
      },
      CommitMode::kConditional);
  const Answer applied = hostile.driver().put("a", "one");
  EXPECT_EQ(applied.status, 200) << applied.error_name();
  EXPECT_EQ(hostile.writes().size(), 3U);
}

TEST(S3Hostile, AConflictThatNeverEndsIsAnswered) {
  S3Hostile hostile(always(seen("\"abc\"")), always(answer("409 Conflict")),
                    CommitMode::kConditional);
  EXPECT_EQ(hostile.driver().put("a", "one").status, 409);
  EXPECT_EQ(hostile.writes().size(), 5U);
}

TEST(S3Hostile, ARefusalThatIsNotAboutTheConditionIsTheAnswer) {
  S3Hostile hostile(always(seen("\"abc\"")), always(answer("412 Precondition Failed")),
                    CommitMode::kConditional);
  EXPECT_EQ(hostile.driver().put("a", "one").status, 412);
  EXPECT_EQ(hostile.writes().size(), 1U);
}

TEST(S3Hostile, UnderAStateThatIsNotShownNothingIsSent) {
  S3Hostile hostile(always("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"),
                    always(answer("200 OK")), CommitMode::kConditional);
  const Answer refused = hostile.driver().put("a", "one");
  EXPECT_EQ(refused.error_name(), "upstream-failed");
  EXPECT_EQ(refused.error->applied, Applied::kNo);
  EXPECT_TRUE(hostile.writes().empty());
}

TEST(S3Hostile, ALostRaceStartsAgainWithTheNewState) {
  S3Hostile hostile([](std::size_t times) { return seen(times == 0 ? "\"old\"" : "\"new\""); },
                    [](std::size_t times) {
                      return times == 0 ? answer("412 Precondition Failed") : answer("200 OK");
                    },
                    CommitMode::kConditional);
  EXPECT_EQ(hostile.driver().put("a", "one").status, 200);
  EXPECT_NE(hostile.writes().at(0).find("If-Match: \"old\""), std::string::npos);
  EXPECT_NE(hostile.writes().at(1).find("If-Match: \"new\""), std::string::npos);
}

TEST(S3Hostile, ALostRaceOfABodyThatHasLeftIsToldToTheClient) {
  S3Hostile hostile([](std::size_t times) { return seen(times == 0 ? "\"old\"" : "\"new\""); },
                    always(answer("412 Precondition Failed")), CommitMode::kConditional);
  const Answer lost = hostile.driver().put("a", std::string(3'000'000, 'x'));
  ASSERT_TRUE(lost.error) << lost.status;
  EXPECT_EQ(lost.error_name(), "overloaded");
  EXPECT_EQ(lost.error->applied, Applied::kNo);
}

TEST(S3Hostile, WhatStagesHasNoIntentAndWhatCommitsHasOne) {
  S3Hostile hostile(always(kAbsent), always(answer("200 OK")));
  S3Staged part = hostile.driver().stage({.operation = "UploadPart",
                                          .key = "a",
                                          .query = "partNumber=1&uploadId=u",
                                          .content = "part"});
  EXPECT_FALSE(part.intent());
  EXPECT_EQ(hostile.writes().size(), 0U) << "sent at the commit";
  EXPECT_EQ(part.commit().status, 200);
  S3Staged put = hostile.driver().stage({.operation = "PutObject", .key = "a", .content = "x"});
  ASSERT_TRUE(put.intent());
  EXPECT_TRUE(put.intent()->shared);
  EXPECT_EQ(hostile.driver().revoke(put.intent()->data).value(), backends::Revocation::kUnknown)
      << "the settle rule decides";
}

TEST(S3Hostile, AStampStaysHere) {
  S3Hostile hostile(always(seen("\"abc\"", "request-9")),
                    always(answer("200 OK",
                                  "x-amz-meta-fencing-token: 3\r\n"
                                  "x-amz-meta-fencing-request: request-9\r\n"
                                  "x-amz-meta-color: red\r\n")));
  const Answer head = hostile.driver().head("a");
  EXPECT_EQ(head.field("x-amz-meta-fencing-request"), "");
  EXPECT_EQ(head.head_length_bytes, 5U);
  const Answer get = hostile.driver().get("a");
  EXPECT_EQ(get.field("x-amz-meta-fencing-token"), "");
  EXPECT_EQ(get.field("x-amz-meta-color"), "red");
}

TEST(S3Hostile, ABodyOfUnknownLengthIsHeldOrRefused) {
  S3Hostile hostile(always(kAbsent), always(answer("200 OK")));
  auto options_bytes = std::string(200'000, 'x');
  EXPECT_EQ(
      hostile.driver()
          .write(
              {.operation = "PutObject", .key = "a", .content = options_bytes, .declares = false})
          .status,
      200);
  EXPECT_NE(hostile.writes().at(0).find("Content-Length: 200000\r\n"), std::string::npos);
}

TEST(S3Hostile, OurKeysAreOurs) {
  S3Hostile hostile(always(kAbsent), always(answer("200 OK")));
  EXPECT_EQ(hostile.driver().put(".fenceline-probe-1", "x").error_name(), "forbidden-name");
  EXPECT_EQ(hostile.driver().get(".fenceline-probe-1").error_name(), "forbidden-name");
  EXPECT_EQ(hostile.driver().put("a/.fenceline-x", "x").status, 200);
  const auto before = hostile.writes().size();
  const S3Staged many = hostile.driver().stage(
      {.operation = "DeleteObjects",
       .query = "delete",
       .document = "<Delete><Object><Key>a</Key></Object>"
                   "<Object><Key>.fenceline-intent-1</Key></Object></Delete>"});
  ASSERT_FALSE(many.staged());
  EXPECT_EQ(many.error().kind, base::ErrorKind::kForbiddenName);
  EXPECT_EQ(hostile.writes().size(), before);
}

TEST(S3Hostile, ABodyThatFailsChangesNothing) {
  S3Hostile hostile(always(kAbsent), always(answer("200 OK")));
  S3Call call{.operation = "PutObject", .key = "a", .content = "half"};
  call.end = base::Error{.kind = base::ErrorKind::kMalformedRequest, .detail = "wrong checksum"};
  const Answer refused = hostile.driver().write(call);
  EXPECT_EQ(refused.error_name(), "malformed-request");
  EXPECT_TRUE(hostile.writes().empty());
}

}  // namespace
}  // namespace fenceline::testing
