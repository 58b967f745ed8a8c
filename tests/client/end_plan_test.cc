#include "client/run/end_plan.h"

#include <gtest/gtest.h>

namespace fenceline::client {
namespace {

using base::Milliseconds;
using base::MonotonicTime;
using Action = EndPlan::Action;

MonotonicTime at(int ms) { return MonotonicTime(Milliseconds(ms)); }

Deadlines between(int term, int kill) { return {at(term), at(kill)}; }

TEST(EndPlan, NothingIsDueBeforeThereIsALease) {
  EndPlan plan;
  EXPECT_EQ(plan.due(at(1'000'000)), Action::kNothing);
  EXPECT_EQ(plan.next(), std::nullopt);
}

TEST(EndPlan, RenewalsMoveTheEndAway) {
  EndPlan plan;
  plan.hold(between(20, 25));
  EXPECT_EQ(plan.due(at(19)), Action::kNothing);
  plan.hold(between(30, 35));
  EXPECT_EQ(plan.due(at(29)), Action::kNothing);
  EXPECT_EQ(plan.next(), at(30));
  EXPECT_FALSE(plan.is_lost());
}

TEST(EndPlan, WithoutRenewalTermThenKill) {
  EndPlan plan;
  plan.hold(between(20, 25));
  EXPECT_EQ(plan.due(at(20)), Action::kTerm);
  EXPECT_TRUE(plan.is_lost());
  EXPECT_EQ(plan.due(at(21)), Action::kNothing) << "TERM is sent once";
  EXPECT_EQ(plan.next(), at(25));
  EXPECT_EQ(plan.due(at(25)), Action::kKill);
  EXPECT_EQ(plan.due(at(26)), Action::kKill) << "again, until nothing is left";
}

TEST(EndPlan, AnEndThatHasBegunIsNotTakenBack) {
  EndPlan plan;
  plan.hold(between(20, 25));
  EXPECT_EQ(plan.due(at(20)), Action::kTerm);
  plan.hold(between(100, 105));
  EXPECT_EQ(plan.due(at(25)), Action::kKill);
  EXPECT_TRUE(plan.is_lost());
}

TEST(EndPlan, WhoWakesTooLateKillsAtOnce) {
  EndPlan plan;
  plan.hold(between(20, 25));
  EXPECT_EQ(plan.due(at(1'000)), Action::kKill);
  EXPECT_TRUE(plan.is_lost());
}

TEST(EndPlan, ALossBeginsTheEndAtOnce) {
  EndPlan plan;
  plan.hold(between(20, 25));
  plan.lose(between(3, 8));
  EXPECT_EQ(plan.due(at(3)), Action::kTerm);
  EXPECT_EQ(plan.due(at(8)), Action::kKill);
  EXPECT_TRUE(plan.is_lost());
}

TEST(EndPlan, ALossWhileItEndsCanOnlyHurry) {
  EndPlan plan;
  plan.hold(between(20, 25));
  EXPECT_EQ(plan.due(at(20)), Action::kTerm);
  plan.lose(between(21, 40));
  EXPECT_EQ(plan.next(), at(25));
  plan.lose(between(22, 23));
  EXPECT_EQ(plan.due(at(23)), Action::kKill);
}

TEST(EndPlan, WhatTheCommandLeftBehindGetsTheGrace) {
  EndPlan plan;
  plan.hold(between(20, 25));
  plan.command_ended(at(5), Milliseconds(10));
  EXPECT_EQ(plan.due(at(5)), Action::kTerm);
  EXPECT_EQ(plan.due(at(15)), Action::kKill);
  EXPECT_FALSE(plan.is_lost()) << "the command ended by itself";
}

TEST(EndPlan, LeftoversDoNotOutliveTheLease) {
  EndPlan plan;
  plan.hold(between(20, 25));
  plan.command_ended(at(19), Milliseconds(1'000));
  EXPECT_EQ(plan.due(at(19)), Action::kTerm);
  EXPECT_EQ(plan.due(at(25)), Action::kKill);
  plan.lose(between(25, 25));
  EXPECT_FALSE(plan.is_lost());
}

TEST(EndPlan, ACommandThatEndsOnTermWasStillLost) {
  EndPlan plan;
  plan.hold(between(20, 25));
  EXPECT_EQ(plan.due(at(20)), Action::kTerm);
  plan.command_ended(at(21), Milliseconds(10));
  EXPECT_TRUE(plan.is_lost());
  EXPECT_EQ(plan.next(), at(25));
}

TEST(EndPlan, WithoutItsOwnerAllIsKilled) {
  EndPlan plan;
  plan.hold(between(20, 25));
  plan.abandon(at(5));
  EXPECT_EQ(plan.due(at(5)), Action::kKill);
}

}  // namespace
}  // namespace fenceline::client
