#include "client/run/guard_messages.h"

#include <gtest/gtest.h>

namespace fenceline::client {
namespace {

using base::MonotonicTime;

MonotonicTime at(std::int64_t ns) { return MonotonicTime(MonotonicTime::duration(ns)); }

TEST(GuardMessages, ComeOutAsTheyWentIn) {
  const GuardOrder orders[] = {
      {GuardOrder::Kind::kStart, {at(1), at(1'234'567'890'123)}, 0, {"A=1", "B=", "C=a\nb=c"}},
      {GuardOrder::Kind::kHold, {at(5), at(7)}, 0, {}},
      {GuardOrder::Kind::kLost, {at(0), at(0)}, 0, {}},
      {GuardOrder::Kind::kSignal, {}, 15, {}},
  };
  for (const GuardOrder& order : orders) {
    EXPECT_EQ(decode_order(encode(order)), order);
  }
  const GuardReport reports[] = {
      {GuardReport::Kind::kStarted, 4711, false},
      {GuardReport::Kind::kNotStarted, 2, false},
      {GuardReport::Kind::kEnded, 256, true},
  };
  for (const GuardReport& report : reports) {
    EXPECT_EQ(decode_report(encode(report)), report);
  }
}

TEST(GuardMessages, WhatIsCutOrForeignIsNotUnderstood) {
  const std::string whole = encode(GuardOrder{GuardOrder::Kind::kStart, {}, 0, {"A=1"}});
  EXPECT_FALSE(decode_order(whole.substr(0, whole.size() - 1)));
  EXPECT_FALSE(decode_order(""));
  EXPECT_FALSE(decode_order(std::string("9\0000\0000\0000\000", 8)));
  EXPECT_FALSE(decode_report(encode(GuardReport{}) + "x"));
  EXPECT_FALSE(decode_report("started"));
}

}  // namespace
}  // namespace fenceline::client
