#include "backends/s3/s3_answers.h"

#include <gtest/gtest.h>

#include <string>

#include "backends/s3/client_conditions.h"
#include "backends/s3/s3_standing.h"

namespace fenceline::backends::s3 {
namespace {

const std::string kDeclaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

TEST(S3Answers, AnEmptyMessageIsFilledIn) {
  const std::string said =
      "<Message>The S3 server behind the proxy refused the request: NoSuchKey.</Message>";
  EXPECT_EQ(with_message(kDeclaration + "<Error><Code>NoSuchKey</Code><Message></Message></Error>"),
            kDeclaration + "<Error><Code>NoSuchKey</Code>" + said + "</Error>");
  EXPECT_EQ(with_message("<Error><Code>NoSuchKey</Code><Message/></Error>"),
            "<Error><Code>NoSuchKey</Code>" + said + "</Error>");
  EXPECT_EQ(with_message("<Error><Code>NoSuchKey</Code><BucketName>b</BucketName></Error>"),
            "<Error><Code>NoSuchKey</Code>" + said + "<BucketName>b</BucketName></Error>");
}

TEST(S3Answers, EverythingElseStaysAsItIs) {
  for (const std::string& document :
       {std::string(), std::string("not XML"), std::string("<html><Message></Message></html>"),
        std::string("<Error><Code>A</Code><Message>why</Message></Error>"),
        std::string("<Error></Error>"), std::string("<?xml"), std::string("<?xml ?>")}) {
    EXPECT_EQ(with_message(document), document);
  }
}

TEST(S3Answers, TheCodeOfAnError) {
  EXPECT_EQ(error_code_of("<Error><Code>SlowDown</Code></Error>"), "SlowDown");
  EXPECT_EQ(error_code_of("<Error><Code>SlowDown"), "");
  EXPECT_EQ(error_code_of("x"), "");
}

TEST(S3Answers, WhatAnErrorInA200Settles) {
  EXPECT_EQ(status_of_hidden_error("PreconditionFailed"), 412);
  EXPECT_EQ(status_of_hidden_error("NoSuchUpload"), 404);
  EXPECT_EQ(status_of_hidden_error("InvalidPart"), 400);
  for (const char* const unsettled : {"", "InternalError", "SlowDown", "ServiceUnavailable"}) {
    EXPECT_FALSE(status_of_hidden_error(unsettled)) << unsettled;
  }
}

base::RequestHead head_with(std::vector<base::Field> fields) {
  base::RequestHead head;
  head.method = base::Method::kPut;
  head.fields = std::move(fields);
  return head;
}

TEST(S3Conditions, TagsMatchWithAndWithoutQuotes) {
  const ObjectState object{.exists = true, .etag = "\"abc\""};
  for (const char* const tag : {"\"abc\"", "abc", "*", "\"x\", \"abc\"", "x,abc"}) {
    EXPECT_TRUE(ClientConditions(head_with({{"If-Match", tag}})).check(object)) << tag;
    const auto refused = ClientConditions(head_with({{"If-None-Match", tag}})).check(object);
    ASSERT_FALSE(refused) << tag;
    EXPECT_EQ(refused.error().code, "PreconditionFailed");
  }
  for (const char* const tag : {"\"abd\"", "ab", "", "\"\"", "W/\"abc\""}) {
    EXPECT_FALSE(ClientConditions(head_with({{"If-Match", tag}})).check(object)) << tag;
    EXPECT_TRUE(ClientConditions(head_with({{"If-None-Match", tag}})).check(object)) << tag;
  }
}

TEST(S3Conditions, OnWhatIsAbsent) {
  const ObjectState absent;
  EXPECT_TRUE(ClientConditions(head_with({})).check(absent));
  EXPECT_TRUE(ClientConditions(head_with({{"If-None-Match", "*"}})).check(absent));
  const auto refused = ClientConditions(head_with({{"If-Match", "*"}})).check(absent);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, base::ErrorKind::kNotFound);
  EXPECT_EQ(refused.error().code, "NoSuchKey");
}

S3Verdict all_good() {
  return {.server = "x",
          .no_conditional_put = {},
          .no_conditional_delete = {},
          .no_conditional_copy = {},
          .no_conditional_complete = {},
          .no_final_abort = {}};
}

Guarantee guarantee_of(const S3Standing& standing, const std::string& operation) {
  for (const auto& one : standing.capabilities.operations) {
    if (one.operation == operation) {
      return one.guarantee;
    }
  }
  return Guarantee::kNone;
}

TEST(S3Standing, WithoutAProbeEverythingIsBounded) {
  S3Options options;
  options.http.commit = http::CommitMode::kPlain;
  const S3Standing standing = standing_of(options, std::nullopt);
  EXPECT_FALSE(needs_probe(options));
  EXPECT_FALSE(standing.conditional_put || standing.conditional_delete ||
               standing.conditional_copy || standing.conditional_complete ||
               standing.abort_is_final);
  for (const auto& one : standing.capabilities.operations) {
    EXPECT_EQ(one.guarantee, Guarantee::kBounded) << one.operation;
  }
  EXPECT_EQ(standing.capabilities.guarantee, Guarantee::kBounded);
  EXPECT_FALSE(standing.capabilities.assumption.empty());
}

TEST(S3Standing, ConditionsAreStrictOnceAnOperatorSettles) {
  S3Options options;
  const S3Standing by_time = standing_of(options, all_good());
  EXPECT_TRUE(by_time.conditional_put && by_time.conditional_delete);
  EXPECT_EQ(guarantee_of(by_time, "PutObject"), Guarantee::kBounded) << "tags come back";
  EXPECT_EQ(guarantee_of(by_time, "CompleteMultipartUpload"), Guarantee::kStrict)
      << "by an abort that is final";
  options.http.settle_after = std::nullopt;
  const S3Standing by_hand = standing_of(options, all_good());
  for (const char* const operation :
       {"PutObject", "CopyObject", "CompleteMultipartUpload", "DeleteObject"}) {
    EXPECT_EQ(guarantee_of(by_hand, operation), Guarantee::kStrict) << operation;
  }
  EXPECT_EQ(guarantee_of(by_hand, "DeleteObjects"), Guarantee::kBounded);
}

TEST(S3Standing, WhatIsNamedIsUsedThoughItIsNotProven) {
  S3Options options;
  options.http.commit = http::CommitMode::kConditional;
  options.http.settle_after = std::nullopt;
  const S3Standing standing = standing_of(options, S3Verdict());
  EXPECT_TRUE(standing.conditional_put);
  EXPECT_FALSE(standing.conditional_delete);
  EXPECT_EQ(guarantee_of(standing, "PutObject"), Guarantee::kBounded);
}

TEST(S3Standing, NothingIsProbedWithoutABucketOfItsOwn) {
  S3Options options;
  EXPECT_FALSE(needs_probe(options));
  options.probe_bucket = "scratch";
  EXPECT_TRUE(needs_probe(options));
  options.probe_bucket.clear();
  options.bucket = "media";
  EXPECT_TRUE(needs_probe(options));
  options.http.probe = false;
  EXPECT_FALSE(needs_probe(options));
}

TEST(S3Standing, TagsOfOneBucketSayNothingAboutOthers) {
  S3Options options;
  S3Verdict verdict = all_good();
  verdict.tags_repeat = false;
  verdict.tags_are_md5 = true;
  options.probe_bucket = "scratch";
  EXPECT_TRUE(standing_of(options, verdict).tags_repeat);
  EXPECT_FALSE(standing_of(options, verdict).tags_are_md5);
  options.bucket = "media";
  EXPECT_FALSE(standing_of(options, verdict).tags_repeat);
  EXPECT_TRUE(standing_of(options, verdict).tags_are_md5);
}

TEST(S3Standing, TagsInBothStyles) {
  EXPECT_EQ(tag_for(TagStyle::kQuoted, "\"a\""), "\"a\"");
  EXPECT_EQ(tag_for(TagStyle::kBare, "\"a\""), "a");
}

}  // namespace
}  // namespace fenceline::backends::s3
