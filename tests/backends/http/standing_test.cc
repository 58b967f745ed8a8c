#include "backends/http/standing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "backends/http/errors.h"

namespace fenceline::backends::http {
namespace {

using std::chrono_literals::operator""min;

ProbeVerdict able(bool move, bool put, bool removal) {
  ProbeVerdict verdict;
  verdict.no_move = move ? std::nullopt : std::optional<std::string>("MOVE is broken");
  verdict.no_conditional_put = put ? std::nullopt : std::optional<std::string>("PUT is broken");
  verdict.no_conditional_delete = removal ? std::nullopt : std::optional<std::string>("no");
  return verdict;
}

const OperationGuarantee& of(const Standing& standing, std::string_view operation) {
  for (const OperationGuarantee& one : standing.capabilities.operations) {
    if (one.operation == operation) {
      return one;
    }
  }
  throw std::runtime_error("no such operation");
}

TEST(Standing, AutoTakesTheStrongestThatIsProven) {
  const HttpOptions options;
  EXPECT_EQ(standing_of(options, able(true, true, true)).put, CommitMode::kMove);
  EXPECT_EQ(standing_of(options, able(false, true, true)).put, CommitMode::kConditional);
  EXPECT_EQ(standing_of(options, able(false, false, false)).put, CommitMode::kPlain);
  EXPECT_EQ(standing_of(options, able(true, true, true)).removal, CommitMode::kConditional);
  EXPECT_EQ(standing_of(options, able(true, false, true)).removal, CommitMode::kPlain);
}

TEST(Standing, MoveIsStrictForPutAndTheWeakestCounts) {
  const Standing standing = standing_of({}, able(true, false, false));
  EXPECT_EQ(of(standing, "PUT").guarantee, Guarantee::kStrict);
  EXPECT_EQ(of(standing, "DELETE").guarantee, Guarantee::kBounded);
  EXPECT_EQ(of(standing, "PATCH").guarantee, Guarantee::kBounded);
  EXPECT_EQ(standing.capabilities.operations.size(), 4U) << "only what writes";
  EXPECT_EQ(standing.capabilities.guarantee, Guarantee::kBounded);
  EXPECT_NE(standing.capabilities.assumption.find("60000 ms"), std::string::npos);

  HttpOptions only_put;
  only_put.methods = {"GET", "PUT"};
  const Standing strict = standing_of(only_put, able(true, false, false));
  EXPECT_EQ(strict.capabilities.guarantee, Guarantee::kStrict);
  EXPECT_EQ(strict.capabilities.assumption, "");
}

TEST(Standing, ConditionalIsStrictWhereCreationsAreWaitedFor) {
  HttpOptions options;
  options.methods = {"GET", "PUT", "DELETE"};
  EXPECT_EQ(of(standing_of(options, able(false, true, true)), "PUT").guarantee,
            Guarantee::kBounded);
  EXPECT_EQ(of(standing_of(options, able(false, true, true)), "DELETE").guarantee,
            Guarantee::kStrict);
  options.settle_after = std::nullopt;
  const Standing standing = standing_of(options, able(false, true, true));
  EXPECT_EQ(standing.capabilities.guarantee, Guarantee::kStrict);
  EXPECT_EQ(standing.conditions, Conditions::kNewTags);
  EXPECT_FALSE(standing.capabilities.settle_after);
}

TEST(Standing, WhereTagsReturnItIsTheSettleRuleThatMakesItStrict) {
  HttpOptions options;
  options.methods = {"GET", "PUT", "DELETE"};
  ProbeVerdict verdict = able(false, true, true);
  verdict.tags_return = true;
  const Standing bounded = standing_of(options, verdict);
  EXPECT_EQ(bounded.put, CommitMode::kConditional);
  EXPECT_EQ(bounded.conditions, Conditions::kReturningTags);
  EXPECT_EQ(of(bounded, "PUT").guarantee, Guarantee::kBounded);
  EXPECT_EQ(of(bounded, "DELETE").guarantee, Guarantee::kBounded);
  EXPECT_NE(bounded.capabilities.assumption.find("60000 ms"), std::string::npos);
  options.settle_after = std::nullopt;
  const Standing strict = standing_of(options, verdict);
  EXPECT_EQ(strict.capabilities.guarantee, Guarantee::kStrict) << strict.capabilities.assumption;
}

TEST(Standing, WhatIsNamedButNotProvenIsBoundedWithTheReason) {
  HttpOptions options;
  options.commit = CommitMode::kMove;
  const Standing moved = standing_of(options, able(false, true, true));
  EXPECT_EQ(moved.put, CommitMode::kMove);
  EXPECT_FALSE(moved.move_proven);
  EXPECT_EQ(moved.removal, CommitMode::kPlain);
  EXPECT_EQ(of(moved, "PUT").guarantee, Guarantee::kBounded);
  EXPECT_NE(of(moved, "PUT").how.find("MOVE is broken"), std::string::npos);

  options.commit = CommitMode::kConditional;
  options.probe = false;
  const Standing unprobed = standing_of(options, std::nullopt);
  EXPECT_EQ(unprobed.put, CommitMode::kConditional);
  EXPECT_EQ(unprobed.conditions, Conditions::kUnproven);
  EXPECT_NE(of(unprobed, "PUT").how.find("not probed"), std::string::npos);
}

TEST(Standing, PlainIsBoundedAndSaysForHowLong) {
  HttpOptions options;
  options.commit = CommitMode::kPlain;
  options.settle_after = 2min;
  EXPECT_FALSE(needs_probe(options));
  const Standing standing = standing_of(options, std::nullopt);
  EXPECT_EQ(standing.capabilities.guarantee, Guarantee::kBounded);
  EXPECT_EQ(standing.capabilities.settle_after, 2min);
  EXPECT_NE(of(standing, "POST").how.find("120000 ms"), std::string::npos);
}

TEST(Standing, ProbesOnlyWherePutIsAWrite) {
  HttpOptions options;
  EXPECT_TRUE(needs_probe(options));
  options.methods = {"GET", "POST"};
  EXPECT_FALSE(needs_probe(options));
  EXPECT_EQ(standing_of(options, std::nullopt).put, CommitMode::kPlain);
  options.methods = {"GET"};
  EXPECT_EQ(standing_of(options, std::nullopt).capabilities.guarantee, Guarantee::kStrict);
}

TEST(HttpErrors, OnlyADefiniteAnswerSettles) {
  for (const int status : {200, 201, 204, 304, 307, 400, 404, 409, 412, 499}) {
    EXPECT_EQ(meaning_of(status, true), Meaning::kDefinite) << status;
  }
  for (const int status : {500, 502, 503, 504, 507, 599}) {
    EXPECT_EQ(meaning_of(status, true), Meaning::kInDoubt) << status;
  }
  for (const int status : {200, 201, 302}) {
    EXPECT_EQ(meaning_of(status, false), Meaning::kInDoubt) << status << " too early";
  }
  for (const int status : {400, 413, 500, 503}) {
    EXPECT_EQ(meaning_of(status, false), Meaning::kDefinite) << status << " too early";
  }
}

TEST(HttpErrors, DoubtIsNeverReportedAsNo) {
  EXPECT_EQ(in_doubt(503, true).applied, base::Applied::kUnknown);
  EXPECT_EQ(in_doubt(503, true).kind, base::ErrorKind::kUpstreamFailed);
  EXPECT_EQ(in_doubt(504, true).kind, base::ErrorKind::kUpstreamTimeout);
  EXPECT_EQ(in_doubt(200, false).applied, base::Applied::kUnknown);
  EXPECT_NE(in_doubt(503, true).detail.find("503"), std::string::npos);
}

}  // namespace
}  // namespace fenceline::backends::http
