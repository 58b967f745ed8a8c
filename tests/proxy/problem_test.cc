#include "proxy/problem.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "proxy/reason_phrase.h"

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

boost::json::object document_of(const base::Reply& reply) {
  return boost::json::parse(std::get<std::string>(reply.body)).as_object();
}

std::optional<std::string> field_of(const base::Reply& reply, std::string_view name) {
  for (const base::OwnedField& field : reply.fields.list()) {
    if (base::equal_names(field.first, name)) {
      return field.second;
    }
  }
  return std::nullopt;
}

TEST(ProblemKind, FollowsTheContract) {
  const std::vector<std::pair<ErrorKind, int>> rows = {
      {kMalformedRequest, 400},
      {kMalformedToken, 400},
      {kTokenRequired, 428},
      {kStaleToken, 412},
      {kHolderConflict, 409},
      {kTokenTooFarAhead, 409},
      {kPreconditionFailed, 412},
      {kNotFound, 404},
      {kMethodNotAllowed, 405},
      {kNameConflict, 409},
      {kConstraintFailed, 409},
      {kForbiddenName, 403},
      {kRangeNotSatisfiable, 416},
      {kLengthRequired, 411},
      {kBodyTooLarge, 413},
      {kTargetTooLong, 414},
      {kHeadTooLarge, 431},
      {kExpectationFailed, 417},
      {kMethodUnknown, 501},
      {kVersionNotSupported, 505},
      {kRequestTimeout, 408},
      {kClientGone, 499},
      {kUnauthorized, 401},
      {kForbidden, 403},
      {kDraining, 503},
      {kLedgerUnavailable, 503},
      {kInsufficientStorage, 507},
      {kStorageFailed, 500},
      {kOverloaded, 503},
      {kShuttingDown, 503},
      {kInternal, 500},
      {kUpstreamFailed, 502},
      {kUpstreamTimeout, 504},
      {kMarkConflict, 409},
      {kLeaseHeld, 409},
      {kLeaseEnded, 410},
      {kIdempotencyRequired, 400},
      {kIdempotencyReused, 422},
      {kIdempotencyRunning, 409},
      {kFenceBusy, 409},
  };
  EXPECT_EQ(rows.size(), all_kinds().size());
  for (const auto& [kind, status] : rows) {
    EXPECT_EQ(problem_kind(kind).status, status) << base::name_of(kind);
  }
}

TEST(ProblemReply, IsAValidDocumentForEveryKind) {
  for (const ErrorKind kind : all_kinds()) {
    SCOPED_TRACE(base::name_of(kind));
    const base::Reply reply = problem_reply(Error{kind, "Do this.", Applied::kNo});
    EXPECT_EQ(field_of(reply, "Content-Type"), "application/problem+json");
    const boost::json::object document = document_of(reply);
    EXPECT_EQ(document.at("type").as_string(),
              "urn:fenceline:problem:" + std::string(base::name_of(kind)));
    EXPECT_EQ(document.at("status").as_int64(), reply.status);
    EXPECT_FALSE(document.at("title").as_string().empty());
    EXPECT_EQ(document.at("applied").as_string(), "no");
    EXPECT_EQ(document.size(), 5U) << "nothing that is not known";
    if (kind != kClientGone) {
      EXPECT_FALSE(reason_phrase(reply.status).empty());
    }
    const bool later = reply.status == 503 || base::retry_of(kind) == base::Retry::kLater;
    EXPECT_EQ(field_of(reply, "Retry-After").has_value(), later);
  }
}

TEST(ProblemReply, CarriesTheFacts) {
  ProblemFacts facts;
  facts.key = "exports/acme";
  facts.presented = base::Token::of(33);
  facts.highest = base::Token::of(9007199254740993);
  const base::Reply reply =
      problem_reply(Error{kStaleToken, "Take the lease again.", Applied::kNo}, facts);
  EXPECT_EQ(std::get<std::string>(reply.body),
            "{\"type\":\"urn:fenceline:problem:stale-token\","
            "\"title\":\"The fencing token is stale\",\"status\":412,"
            "\"detail\":\"Take the lease again.\",\"key\":\"exports/acme\",\"presented\":\"33\","
            "\"highest\":\"9007199254740993\",\"applied\":\"no\"}\n");
}

TEST(ProblemReply, SurvivesAnyBytes) {
  ProblemFacts facts;
  facts.key = std::string("a\xff\"\0\r\n\\\xed\xa0\x80", 10);
  const base::Reply reply = problem_reply(
      Error{kMalformedRequest, "bad \x01 byte \xc3 here\r\n", Applied::kUnknown}, facts);
  const boost::json::object document = document_of(reply);
  EXPECT_TRUE(document.at("key").as_string().starts_with("a\xEF\xBF\xBD\""));
  EXPECT_EQ(document.at("applied").as_string(), "unknown");
}

TEST(ProblemReply, TellsWhenToRetry) {
  ProblemFacts facts;
  EXPECT_EQ(field_of(problem_reply(Error{kDraining, "d"}, facts), "Retry-After"), "1");
  Error later{kDraining, "d"};
  later.retry_after_s = 30;
  EXPECT_EQ(field_of(problem_reply(later, facts), "Retry-After"), "30");
  EXPECT_EQ(field_of(problem_reply(Error{kStaleToken, "d"}, facts), "Retry-After"), std::nullopt);
}

TEST(ProblemReply, CarriesTheFieldsOfTheError) {
  Error error{kMethodNotAllowed, "Use GET."};
  error.fields = {{"Allow", "GET, HEAD"}};
  EXPECT_EQ(field_of(problem_reply(error), "Allow"), "GET, HEAD");
}

TEST(ProblemReply, LeaksNothingOfABug) {
  const base::Reply reply =
      problem_reply(Error{kInternal, "password=hunter2 at 0x7ffe", Applied::kUnknown});
  EXPECT_EQ(std::get<std::string>(reply.body).find("hunter2"), std::string::npos);
  EXPECT_EQ(document_of(reply).at("applied").as_string(), "unknown");
  EXPECT_FALSE(document_of(reply).at("detail").as_string().empty());
}

TEST(ProblemReply, HasADetailWhereTheErrorHasNone) {
  EXPECT_EQ(document_of(problem_reply(Error{kNotFound, ""})).at("detail").as_string(), "Not found");
}

TEST(ReasonPhrase, KnowsTheCommonOnes) {
  EXPECT_EQ(reason_phrase(200), "OK");
  EXPECT_EQ(reason_phrase(412), "Precondition Failed");
  EXPECT_EQ(reason_phrase(507), "Insufficient Storage");
  EXPECT_EQ(reason_phrase(299), "");
  EXPECT_EQ(reason_phrase(0), "");
  EXPECT_EQ(reason_phrase(999), "");
}

}  // namespace
}  // namespace fenceline::proxy
