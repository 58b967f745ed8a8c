#include "proxy/s3_error.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fenceline::proxy {
namespace {

using base::Applied;
using base::Error;
using base::ErrorKind;
using enum base::ErrorKind;

std::vector<ErrorKind> all_kinds() {
  std::vector<ErrorKind> kinds;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(kUpstreamTimeout); ++i) {
    kinds.push_back(static_cast<ErrorKind>(i));
  }
  return kinds;
}

std::optional<std::string> field_of(const base::Reply& reply, std::string_view name) {
  for (const base::OwnedField& field : reply.fields.list()) {
    if (base::equal_names(field.first, name)) {
      return field.second;
    }
  }
  return std::nullopt;
}

std::string text_of(const base::Reply& reply) { return std::get<std::string>(reply.body); }

/// What stands in an element, escaped as it is.
std::optional<std::string> element(const base::Reply& reply, const std::string& name) {
  const std::string text = text_of(reply);
  const std::size_t start = text.find("<" + name + ">");
  if (start == std::string::npos) {
    return std::nullopt;
  }
  const std::size_t first = start + name.size() + 2;
  return text.substr(first, text.find("</" + name + ">", first) - first);
}

base::Reply reply_to(const Error& error, const ProblemFacts& facts = {}) {
  return s3_error_reply(error, facts, "/media/a", false);
}

TEST(S3Error, IsAWholeDocument) {
  ProblemFacts facts;
  facts.key = "media/a";
  facts.presented = base::Token::of(33);
  facts.highest = base::Token::of(9007199254740993);
  facts.request_id = "r-1";
  const base::Reply reply = reply_to(Error{kStaleToken, "Take the lease again."}, facts);
  EXPECT_EQ(reply.status, 412);
  EXPECT_EQ(field_of(reply, "Content-Type"), "application/xml");
  EXPECT_EQ(field_of(reply, "x-amz-request-id"), "r-1");
  EXPECT_EQ(field_of(reply, "Retry-After"), std::nullopt);
  EXPECT_EQ(text_of(reply),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<Error><Code>PreconditionFailed</Code><Message>Take the lease again.</Message>"
            "<Resource>/media/a</Resource><RequestId>r-1</RequestId>"
            "<FencingKey>media/a</FencingKey><FencingPresented>33</FencingPresented>"
            "<FencingHighest>9007199254740993</FencingHighest><FencingApplied>no</FencingApplied>"
            "</Error>\n");
}

TEST(S3Error, EveryKindHasACodeAndAMessage) {
  for (const ErrorKind kind : all_kinds()) {
    SCOPED_TRACE(base::name_of(kind));
    const base::Reply reply = reply_to(Error{kind, ""});
    EXPECT_FALSE(element(reply, "Code").value_or("").empty());
    EXPECT_FALSE(element(reply, "Message").value_or("").empty()) << "clients fail on that";
    EXPECT_EQ(element(reply, "RequestId"), std::nullopt) << "nothing that is not known";
    EXPECT_EQ(element(reply, "FencingKey"), std::nullopt);
    EXPECT_EQ(reply.status, kind == kUnauthorized ? 403 : problem_kind(kind).status);
    EXPECT_EQ(field_of(reply, "Retry-After"),
              field_of(problem_reply(Error{kind, "d"}), "Retry-After"));
  }
}

/// Clients repeat 5xx, 429 and some codes 2 to 30 times (facts/s3.md, 2.4).
TEST(S3Error, ARefusalIsNotRepeated) {
  const std::set<std::string_view> repeated{
      "InternalError",    "ServiceUnavailable",         "SlowDown",
      "RequestTimeout",   "OperationAborted",           "Throttling",
      "RequestThrottled", "ConditionalRequestConflict", "RequestTimeTooSkewed"};
  for (const ErrorKind kind : {kMalformedToken, kTokenRequired, kStaleToken, kHolderConflict,
                               kTokenTooFarAhead, kPreconditionFailed, kForbidden, kUnauthorized}) {
    SCOPED_TRACE(base::name_of(kind));
    const S3ErrorKind found = s3_error_kind(kind);
    EXPECT_GE(found.status, 400);
    EXPECT_LT(found.status, 500);
    EXPECT_NE(found.status, 429);
    EXPECT_FALSE(repeated.contains(found.code)) << found.code;
  }
}

TEST(S3Error, WhatIsLaterIsRepeated) {
  for (const ErrorKind kind : {kDraining, kLedgerUnavailable, kShuttingDown}) {
    EXPECT_EQ(s3_error_kind(kind).status, 503);
    EXPECT_EQ(s3_error_kind(kind).code, "ServiceUnavailable");
  }
  Error later{kDraining, "d"};
  EXPECT_EQ(field_of(reply_to(later), "Retry-After"), "1");
  later.retry_after_s = 30;
  EXPECT_EQ(field_of(reply_to(later), "Retry-After"), "30");
}

TEST(S3Error, TakesTheCodeOfTheError) {
  Error error{kNotFound, "There is no such upload."};
  error.code = "NoSuchUpload";
  EXPECT_EQ(element(reply_to(error), "Code"), "NoSuchUpload");
  error.code = {};
  EXPECT_EQ(element(reply_to(error), "Code"), "NoSuchKey");
}

TEST(S3Error, CarriesTheFieldsOfTheError) {
  Error error{kRangeNotSatisfiable, "Too far."};
  error.fields = {{"Content-Range", "bytes */7"}};
  EXPECT_EQ(field_of(reply_to(error), "Content-Range"), "bytes */7");
}

TEST(S3Error, HasNoDocumentForHead) {
  ProblemFacts facts;
  facts.request_id = "r-1";
  const base::Reply reply =
      s3_error_reply(Error{kStaleToken, "Take the lease again."}, facts, "/media/a", true);
  EXPECT_EQ(reply.status, 412);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(reply.body));
  EXPECT_EQ(field_of(reply, "x-amz-request-id"), "r-1");
}

TEST(S3Error, SurvivesAnyBytes) {
  ProblemFacts facts;
  facts.key = std::string("a</FencingKey>\xff\0", 16);
  const base::Reply reply =
      s3_error_reply(Error{kMalformedRequest, "bad <&> \x01", Applied::kUnknown}, facts,
                     "/media/<script>'\"", false);
  EXPECT_EQ(element(reply, "Message"), "bad &lt;&amp;&gt; \xEF\xBF\xBD");
  EXPECT_EQ(element(reply, "Resource"), "/media/&lt;script&gt;&apos;&quot;");
  EXPECT_EQ(element(reply, "FencingKey"), "a&lt;/FencingKey&gt;\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(element(reply, "FencingApplied"), "unknown");
}

TEST(S3Error, LeaksNothingOfABug) {
  const base::Reply reply =
      reply_to(Error{kInternal, "password=hunter2 at 0x7ffe", Applied::kUnknown});
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(text_of(reply).find("hunter2"), std::string::npos);
  EXPECT_EQ(element(reply, "FencingApplied"), "unknown");
}

}  // namespace
}  // namespace fenceline::proxy
