#include "fencing/reset.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/ledger_calls.h"

namespace fenceline::fencing {
namespace {

using base::ErrorKind;
using base::Token;
using ::fenceline::testing::mark_of;
using ::fenceline::testing::order_to;

ResetOrder order_with(std::string reason, std::string by = {}) {
  ResetOrder order = order_to(5);
  order.reason = std::move(reason);
  order.by = std::move(by);
  return order;
}

TEST(ResetMarkTest, TheRuleInOneTable) {
  struct Row {
    Mark stored;
    ResetOrder order;
    ResetVerdict verdict;
    Mark after;
  };
  const Row rows[] = {
      {mark_of(100, "w"), order_to(5), ResetVerdict::kApplies, mark_of(5)},
      {mark_of(100, "w"), order_to(5, 100), ResetVerdict::kApplies, mark_of(5)},
      {mark_of(100), order_to(99), ResetVerdict::kApplies, mark_of(99)},
      {mark_of(100), order_to(1), ResetVerdict::kApplies, mark_of(1)},
      // The same token: only the holder is dropped, and only once.
      {mark_of(5, "w"), order_to(5), ResetVerdict::kApplies, mark_of(5)},
      {mark_of(5), order_to(5), ResetVerdict::kUnchanged, mark_of(5)},
      {mark_of(5), order_to(5, 100), ResetVerdict::kUnchanged, mark_of(5)},
      // Sent again after somebody took the fence over meanwhile.
      {mark_of(5, "w"), order_to(5, 100), ResetVerdict::kMoved, mark_of(5, "w")},
      {mark_of(6), order_to(5, 100), ResetVerdict::kMoved, mark_of(6)},
      {mark_of(101), order_to(5, 100), ResetVerdict::kMoved, mark_of(101)},
      {mark_of(100), order_to(101), ResetVerdict::kNotLower, mark_of(100)},
      {mark_of(100), order_to(101, 100), ResetVerdict::kNotLower, mark_of(100)},
      {mark_of(100), order_to(Token::kMax), ResetVerdict::kNotLower, mark_of(100)},
      {Mark{}, order_to(5), ResetVerdict::kNeverFenced, Mark{}},
      {Mark{}, order_to(5, 7), ResetVerdict::kNeverFenced, Mark{}},
  };
  for (const Row& row : rows) {
    const ResetOutcome outcome = reset_mark(row.stored, row.order);
    SCOPED_TRACE(row.stored.token.text() + " to " + row.order.to.text() + " from " +
                 row.order.from.text());
    EXPECT_EQ(outcome.verdict, row.verdict);
    EXPECT_EQ(outcome.before, row.stored);
    EXPECT_EQ(outcome.after, row.after);
  }
}

TEST(ResetOrderTest, WhatMustBeInIt) {
  EXPECT_TRUE(check_order(order_to(1)).has_value());
  EXPECT_TRUE(
      check_order(order_with(std::string(kMaxReasonBytes, 'r'), std::string(kMaxByBytes, 'b')))
          .has_value());
  const ResetOrder bad[] = {order_to(0),
                            order_with(""),
                            order_with("   "),
                            order_with("a\nb"),
                            order_with("\xFF"),
                            order_with(std::string(kMaxReasonBytes + 1, 'r')),
                            order_with("r", std::string(kMaxByBytes + 1, 'b')),
                            order_with("r", "a\x7F")};
  for (const ResetOrder& order : bad) {
    const auto checked = check_order(order);
    ASSERT_FALSE(checked.has_value()) << order.reason;
    EXPECT_EQ(checked.error().kind, ErrorKind::kMalformedRequest);
  }
}

TEST(ResetAnswerTest, SaysWhatTheMarkIs) {
  const auto answer = [](const Mark& stored, const ResetOrder& order) {
    return answer_of(reset_mark(stored, order), order);
  };
  EXPECT_EQ(answer(mark_of(100), order_to(5))->after, mark_of(5));
  EXPECT_EQ(answer(mark_of(5), order_to(5))->after, mark_of(5));
  EXPECT_EQ(answer(Mark{}, order_to(5)).error().kind, ErrorKind::kNotFound);
  for (const auto& refused :
       {answer(mark_of(100), order_to(101)), answer(mark_of(100), order_to(5, 99))}) {
    EXPECT_EQ(refused.error().kind, ErrorKind::kMarkConflict);
    EXPECT_NE(refused.error().detail.find("The mark is 100"), std::string::npos)
        << refused.error().detail;
  }
}

TEST(ResetObstacleTest, EachIsNamed) {
  EXPECT_EQ(obstacle_to_reset({}), std::nullopt);
  const auto expect_named = [](const ResetObstacles& found, const std::string& who) {
    const auto obstacle = obstacle_to_reset(found);
    ASSERT_TRUE(obstacle.has_value()) << who;
    EXPECT_EQ(obstacle->kind, ErrorKind::kFenceBusy);
    EXPECT_EQ(obstacle->applied, base::Applied::kNo);
    EXPECT_NE(obstacle->detail.find(who), std::string::npos) << obstacle->detail;
  };
  ResetObstacles found;
  found.waiting = 3;
  expect_named(found, "3 requests wait");
  found.ledger_busy = true;
  expect_named(found, "being read or set back");
  found.announced_not_durable = true;
  expect_named(found, "not durable");
  found.unsettled = {Token::of(7), Token::of(8)};
  expect_named(found, "token 7, 8");
  found.inside = {{Token::of(33), 2}, {Token::of(34), 1}};
  expect_named(found, "2 with token 33, 1 with token 34");
}

}  // namespace
}  // namespace fenceline::fencing
