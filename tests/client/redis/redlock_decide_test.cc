#include "client/sources/redlock_decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fenceline::client::redlock {
namespace {

using base::ErrorKind;
using base::Milliseconds;
using redis::array;
using redis::bulk;
using redis::integer;
using redis::Reply;

base::Result<Reply> granted(std::int64_t counter) { return array({integer(1), integer(counter)}); }
base::Result<Reply> held(std::int64_t counter, std::int64_t left, const std::string& owner) {
  return array({integer(0), integer(counter), integer(left), bulk(owner)});
}
base::Result<Reply> no_member() { return array({integer(-1)}); }
base::Result<Reply> failed() { return base::fail(ErrorKind::kUpstreamFailed, "gone"); }
base::Result<Reply> said_one(std::int64_t value) { return integer(value); }

TEST(RedlockQuorum, TwoMajoritiesShareANode) {
  for (std::size_t nodes = 1; nodes <= 15; ++nodes) {
    EXPECT_GT(2 * quorum(nodes), nodes);
    EXPECT_LE(quorum(nodes), nodes);
  }
}

TEST(RedlockLock, TheTokenIsAboveWhatAnybodyTold) {
  const LockRound round({granted(3), held(9, 10, "o"), granted(7), failed(), granted(1)});
  EXPECT_TRUE(round.granted());
  EXPECT_EQ(round.next_token().value().value(), 10);
}

TEST(RedlockLock, OneThatIsNoMemberCountsAsNone) {
  const LockRound round({granted(3), no_member(), granted(7), no_member(), no_member()});
  EXPECT_FALSE(round.granted());
  EXPECT_EQ(round.count(LockAnswer::What::kNoMember), 3U);
}

TEST(RedlockLock, TokensEndWhereLuaCannotCount) {
  EXPECT_TRUE(LockRound({granted(kMaxToken - 1)}).next_token());
  EXPECT_EQ(LockRound({granted(kMaxToken - 1)}).next_token().value().value(), 9007199254740991);
  EXPECT_FALSE(LockRound({granted(kMaxToken)}).next_token());
  EXPECT_FALSE(LockRound({granted(1), granted(std::int64_t{1} << 60)}).next_token());
}

TEST(RedlockLock, WhatIsNoAnswerIsAFailure) {
  for (const Reply& reply :
       {Reply{}, integer(1), array({}), array({integer(1)}), array({integer(1), integer(-3)}),
        array({integer(2), integer(3)}), array({integer(0), integer(3)}), redis::status("OK")}) {
    EXPECT_EQ(read_lock(reply).what, LockAnswer::What::kFailed);
  }
}

TEST(RedlockLock, ItIsHeldOnceNoMajorityIsLeft) {
  EXPECT_TRUE(
      LockRound({held(1, 5, "a"), held(1, 3, "b"), held(1, 9, "a"), failed(), failed()}).held());
  EXPECT_FALSE(
      LockRound({held(1, 5, "a"), held(1, 3, "b"), granted(1), granted(1), failed()}).held());
  const auto owner =
      LockRound({held(1, 5, "a"), held(1, 3, "b"), held(1, 9, "a"), granted(1), failed()}).owner();
  EXPECT_EQ(owner.value, "a");
  EXPECT_EQ(owner.left, Milliseconds(5));
  EXPECT_EQ(LockRound({granted(1), failed(), failed()}).owner().value, "");
}

TEST(RedlockStanding, TheMajorityDecides) {
  const auto of = [](std::vector<int> answers) {
    Replies replies;
    for (const int answer : answers) {
      replies.push_back(answer < 0 ? failed() : said_one(answer));
    }
    return standing(replies);
  };
  EXPECT_EQ(of({1, 1, 1, -1, -1}), Standing::kHeld);
  EXPECT_EQ(of({1, 1, 1, 0, 0}), Standing::kHeld);
  EXPECT_EQ(of({1, 1, 0, 0, 0}), Standing::kLost);
  EXPECT_EQ(of({-1, -1, 0, 0, 0}), Standing::kLost);
  EXPECT_EQ(of({1, 1, 0, 0, -1}), Standing::kUnknown);
  EXPECT_EQ(of({1, 1, -1, -1, -1}), Standing::kUnknown);
  EXPECT_EQ(of({0, 0, 1}), Standing::kLost);
  EXPECT_EQ(of({0, 0, 1, 1}), Standing::kLost) << "of four, three are a majority";
}

TEST(RedlockShown, TheMajorityHasIt) {
  const auto has = [](const std::string& owner, std::int64_t left) {
    return base::Result<Reply>(array({bulk(owner), integer(left)}));
  };
  Shown shown = read_shown({has("a", 5), has("a", 9), has("a", 7), failed(), has("b", 20)});
  EXPECT_TRUE(shown.known && shown.sure);
  EXPECT_EQ(shown.owner, "a");
  EXPECT_EQ(shown.left, Milliseconds(5));
  shown = read_shown({has("a", 5), has("", -2), has("", -2), has("b", 4), has("", -2)});
  EXPECT_TRUE(shown.known && shown.sure);
  EXPECT_EQ(shown.owner, "") << "two that only try";
  shown = read_shown({has("a", 5), has("a", 6), has("", -2), failed(), failed()});
  EXPECT_TRUE(shown.known);
  EXPECT_FALSE(shown.sure);
  EXPECT_EQ(shown.owner, "a") << "the silent ones may have it, too";
  EXPECT_FALSE(read_shown({has("a", 5), has("a", 6), failed(), failed(), failed()}).known);
}

}  // namespace
}  // namespace fenceline::client::redlock
