#include "fencing/intents.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/ledger_calls.h"
#include "tests/support/manual_clock.h"
#include "tests/support/manual_ledger.h"

namespace fenceline::fencing {
namespace {

using ::fenceline::testing::intent_of;
using ::fenceline::testing::intents_now;
using ::fenceline::testing::key_of;
using ::fenceline::testing::ManualClock;
using ::fenceline::testing::ManualLedger;
using std::chrono::seconds;
using Record = std::set<Intent>;

base::Token token(std::int64_t value) { return base::Token::of(value); }

class IntentsTest : public ::testing::Test {
 protected:
  IntentsTest() { make(); }

  /// As after a restart: the ledger is the same.
  void make() { intents_ = std::make_unique<Intents>(ledger_, clock_); }

  /// What a call of `begin` has come to.
  using Begun = std::shared_ptr<std::optional<base::Result<RunningIntent>>>;

  Begun begin(const Intent& intent, bool shared) {
    auto begun = std::make_shared<std::optional<base::Result<RunningIntent>>>();
    intents_->begin(intent, shared, [begun](base::Result<RunningIntent> result) {
      ASSERT_FALSE(begun->has_value()) << "answered twice";
      begun->emplace(std::move(result));
    });
    return begun;
  }

  /// As `begin`, answered by the ledger.
  RunningIntent begin_now(const Intent& intent, bool shared) {
    const Begun begun = begin(intent, shared);
    answer_all();
    return std::move(begun->value().value());
  }

  void answer_all() {
    while (ledger_.waiting() > 0) {
      ledger_.answer();
    }
  }

  std::vector<Intent> unsettled_below(const std::string& key, std::int64_t below) {
    std::vector<Intent> found;
    for (const UnsettledIntent& each : intents_->unsettled_below(key_of(key), token(below))) {
      found.push_back(each.intent);
    }
    return found;
  }

  void lose(const Intent& intent, bool shared) {
    const RunningIntent dropped = begin_now(intent, shared);
  }

  ManualLedger ledger_;
  ManualClock clock_;
  std::unique_ptr<Intents> intents_;
  const Intent seven_ = intent_of("a", 7);
  const Intent eight_ = intent_of("a", 8);
};

TEST_F(IntentsTest, NobodyRunsBeforeItIsDurable) {
  const Begun begun = begin(seven_, true);
  EXPECT_FALSE(begun->has_value());
  EXPECT_FALSE(intents_->try_begin(seven_).has_value());
  ledger_.answer();
  ASSERT_TRUE(begun->has_value());
  EXPECT_TRUE((*begun)->has_value());
  EXPECT_EQ(ledger_.intents, Record{seven_});
  (*begun)->value().finish();
}

TEST_F(IntentsTest, ASharedOneIsPutOnceForAllWrites) {
  const Begun first = begin(seven_, true);
  const Begun second = begin(seven_, true);
  EXPECT_EQ(ledger_.waiting(), 1U);
  ledger_.answer();
  EXPECT_TRUE(first->value().has_value());
  EXPECT_TRUE(second->value().has_value());
  auto third = intents_->try_begin(seven_);
  ASSERT_TRUE(third.has_value());
  const Begun fourth = begin(seven_, true);
  EXPECT_TRUE(fourth->has_value()) << "nothing to wait for";
  first->value()->finish();
  second->value()->finish();
  third->finish();
  third->finish();
  fourth->value()->finish();
  EXPECT_EQ(ledger_.waiting(), 0U);
  EXPECT_EQ(ledger_.intents, Record{seven_}) << "it stays for the next write";
  EXPECT_TRUE(intents_->try_begin(seven_).has_value());
}

TEST_F(IntentsTest, AnUnsharedOneIsDroppedWhenItIsFinishedAndNobodyWaits) {
  RunningIntent running = begin_now(seven_, false);
  running.finish();
  EXPECT_EQ(ledger_.waiting(), 1U);
  EXPECT_EQ(ledger_.intents, Record{seven_});
  ledger_.answer();
  EXPECT_EQ(ledger_.intents, Record{});
  EXPECT_FALSE(intents_->any_unsettled());
}

TEST_F(IntentsTest, WhatIsDroppedUnfinishedIsUnsettledFromThenOn) {
  for (const bool shared : {true, false}) {
    {
      const RunningIntent running = begin_now(seven_, shared);
      clock_.advance(seconds(3));
      EXPECT_FALSE(intents_->any_unsettled());
      EXPECT_TRUE(unsettled_below("a", 8).empty());
    }
    EXPECT_TRUE(intents_->any_unsettled());
    const auto found = intents_->unsettled_below(key_of("a"), token(8));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].intent, seven_);
    EXPECT_EQ(found[0].since, clock_.now());
    EXPECT_EQ(ledger_.intents, Record{seven_}) << "and on record";
    EXPECT_TRUE(intents_->settle(seven_));
    answer_all();
  }
}

TEST_F(IntentsTest, OnlyLowerTokensOfTheKeyAreFoundTheOldestFirst) {
  for (const Intent& intent : {intent_of("a", 9), intent_of("a", 7, "y"), intent_of("a", 7, "x"),
                               intent_of("a", 100), intent_of("a/b", 1), intent_of("A", 1)}) {
    lose(intent, false);
  }
  EXPECT_EQ(unsettled_below("a", 100),
            (std::vector{intent_of("a", 7, "x"), intent_of("a", 7, "y"), intent_of("a", 9)}));
  EXPECT_EQ(unsettled_below("a", 7), std::vector<Intent>{});
  EXPECT_EQ(intents_->unsettled_of(key_of("a")).size(), 4U);
  EXPECT_EQ(intents_->unsettled_count(), 6U);
}

TEST_F(IntentsTest, OneRunnerInDoubtKeepsASharedOneUnsettledUntilItIsSettled) {
  RunningIntent first = begin_now(seven_, true);
  {
    const auto lost = intents_->try_begin(seven_);
    EXPECT_TRUE(lost.has_value());
  }
  const auto since = clock_.now();
  clock_.advance(seconds(1));
  auto second = intents_->try_begin(seven_);
  first.finish();
  second->finish();
  const auto found = intents_->unsettled_of(key_of("a"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].since, since) << "those with a known outcome change nothing";
  { const auto lost = intents_->try_begin(seven_); }
  EXPECT_EQ(intents_->unsettled_of(key_of("a")).at(0).since, clock_.now()) << "the last counts";
  EXPECT_EQ(intents_->unsettled_count(), 1U);
}

TEST_F(IntentsTest, SettlingForgetsItOnceAndTakesItOffTheRecord) {
  lose(seven_, true);
  EXPECT_FALSE(intents_->settle(eight_));
  EXPECT_TRUE(intents_->settle(seven_));
  EXPECT_FALSE(intents_->settle(seven_));
  EXPECT_FALSE(intents_->any_unsettled());
  EXPECT_TRUE(unsettled_below("a", 8).empty()) << "at once";
  answer_all();
  EXPECT_EQ(ledger_.intents, Record{});
}

TEST_F(IntentsTest, SettlingLeavesWhoStillRunsOnRecord) {
  RunningIntent running = begin_now(seven_, true);
  { const auto lost = intents_->try_begin(seven_); }
  EXPECT_TRUE(intents_->settle(seven_));
  answer_all();
  EXPECT_EQ(ledger_.intents, Record{seven_});
  { const RunningIntent lost = std::move(running); }
  EXPECT_TRUE(intents_->any_unsettled()) << "in doubt anew";
}

TEST_F(IntentsTest, WhatIsFinishedGoesWithTheFirstWriteOfANewerToken) {
  begin_now(seven_, true).finish();
  begin_now(intent_of("a", 7, "x"), true).finish();
  begin_now(intent_of("b", 7), true).finish();
  lose(intent_of("a", 6), true);
  const auto other = intent_of("a", 7, "runs");
  RunningIntent older = begin_now(other, true);
  EXPECT_EQ(ledger_.intents.size(), 5U);
  begin_now(eight_, true).finish();
  EXPECT_EQ(ledger_.intents, (Record{intent_of("a", 6), other, eight_, intent_of("b", 7)}))
      << "what runs, what is in doubt and other keys stay";
  begin_now(intent_of("a", 5), true).finish();
  EXPECT_TRUE(ledger_.intents.contains(eight_)) << "an older token takes nothing off";
  older.finish();
}

TEST_F(IntentsTest, PutAndDropAreOneRequest) {
  begin_now(seven_, true).finish();
  const Begun begun = begin(eight_, true);
  EXPECT_EQ(ledger_.waiting(), 1U);
  ledger_.answer();
  EXPECT_EQ(ledger_.intents, Record{eight_});
  begun->value()->finish();
}

TEST_F(IntentsTest, APutThatFailsLeavesNothingBehind) {
  const Begun first = begin(seven_, true);
  const Begun second = begin(seven_, true);
  ledger_.refuse();
  EXPECT_EQ(first->value().error().kind, base::ErrorKind::kLedgerUnavailable);
  EXPECT_EQ(second->value().error().kind, base::ErrorKind::kLedgerUnavailable);
  EXPECT_FALSE(intents_->try_begin(seven_).has_value());
  EXPECT_FALSE(intents_->any_unsettled());
  const Begun again = begin(seven_, true);
  EXPECT_EQ(ledger_.waiting(), 1U);
  ledger_.answer();
  again->value()->finish();
}

TEST_F(IntentsTest, WhatAFailedPutDidNotDropIsPutAgainBeforeItIsUsed) {
  begin_now(seven_, true).finish();
  const Begun newer = begin(eight_, true);
  ledger_.refuse();
  EXPECT_FALSE(newer->value().has_value());
  EXPECT_FALSE(intents_->try_begin(seven_).has_value()) << "whether it is on record is not sure";
  const Begun older = begin(seven_, true);
  EXPECT_FALSE(older->has_value());
  ledger_.refuse();
  EXPECT_FALSE(older->value().has_value());
  begin_now(eight_, true).finish();
  EXPECT_EQ(ledger_.intents, Record{eight_}) << "dropped with the next one";
}

TEST_F(IntentsTest, WhoComesWhileItIsDroppedWaitsAndPutsItAgain) {
  for (const bool dropped : {true, false}) {
    begin_now(seven_, false).finish();
    EXPECT_FALSE(intents_->try_begin(seven_).has_value());
    const Begun begun = begin(seven_, false);
    EXPECT_EQ(ledger_.waiting(), 1U);
    if (dropped) {
      ledger_.answer();
    } else {
      ledger_.refuse();
    }
    EXPECT_FALSE(begun->has_value());
    EXPECT_EQ(ledger_.waiting(), 1U);
    ledger_.answer();
    EXPECT_EQ(ledger_.intents, Record{seven_});
    begun->value()->finish();
    answer_all();
    EXPECT_EQ(ledger_.intents, Record{});
  }
}

TEST_F(IntentsTest, WhatIsIdleForTenSecondsIsDroppedWhenAnyWriteEnds) {
  begin_now(seven_, true).finish();
  clock_.advance(seconds(9));
  begin_now(intent_of("b", 1), true).finish();
  EXPECT_EQ(ledger_.intents.size(), 2U);
  clock_.advance(seconds(1));
  begin_now(intent_of("c", 1), true).finish();
  clock_.advance(seconds(5));
  begin_now(intent_of("d", 1), true).finish();
  answer_all();
  EXPECT_FALSE(ledger_.intents.contains(seven_));
  EXPECT_TRUE(ledger_.intents.contains(intent_of("b", 1))) << "idle for 6 seconds";
}

TEST_F(IntentsTest, WhatIsIdleForTenSecondsIsDroppedAlsoWhenNoWriteEnds) {
  for (int i = 0; i < 100; ++i) {
    begin_now(intent_of("k" + std::to_string(i), 1), true).finish();
  }
  lose(eight_, true);
  clock_.advance(seconds(9));
  EXPECT_TRUE(intents_->sweep());
  answer_all();
  EXPECT_EQ(ledger_.intents.size(), 101U);
  clock_.advance(seconds(1));
  EXPECT_TRUE(intents_->sweep()) << "the ledger has not answered";
  EXPECT_LE(ledger_.waiting(), 64U) << "one call for each shard, not for each record";
  answer_all();
  EXPECT_EQ(ledger_.intents, Record{eight_});
  clock_.advance(seconds(1));
  EXPECT_FALSE(intents_->sweep()) << "what is in doubt waits for somebody to settle it";
  EXPECT_EQ(ledger_.waiting(), 0U);
}

TEST_F(IntentsTest, ASweepIsMadeOnceASecondAndSkipsNothingThatIsDueLater) {
  begin_now(seven_, true).finish();
  clock_.advance(seconds(9) + std::chrono::milliseconds(500));
  EXPECT_TRUE(intents_->sweep());
  clock_.advance(std::chrono::milliseconds(600));
  EXPECT_TRUE(intents_->sweep()) << "too early after the last one";
  EXPECT_EQ(ledger_.waiting(), 0U);
  clock_.advance(std::chrono::milliseconds(400));
  EXPECT_TRUE(intents_->sweep());
  answer_all();
  EXPECT_EQ(ledger_.intents, Record{});
}

TEST_F(IntentsTest, WhatRunsIsNotSwept) {
  RunningIntent running = begin_now(seven_, true);
  clock_.advance(seconds(3600));
  EXPECT_TRUE(intents_->sweep()) << "it will end";
  EXPECT_EQ(ledger_.waiting(), 0U);
  running.finish();
}

TEST_F(IntentsTest, WhatRunsOrIsInDoubtIsNeverIdle) {
  RunningIntent running = begin_now(seven_, true);
  lose(eight_, true);
  clock_.advance(seconds(3600));
  begin_now(intent_of("b", 1), true).finish();
  answer_all();
  EXPECT_TRUE(ledger_.intents.contains(seven_));
  EXPECT_TRUE(ledger_.intents.contains(eight_));
  running.finish();
}

TEST_F(IntentsTest, AfterARestartEverythingOnRecordIsUnsettledSinceThen) {
  begin_now(seven_, true).finish();
  RunningIntent running = begin_now(eight_, false);
  const Record left = ledger_.intents;
  running.finish();
  make();
  ledger_.intents = left;
  clock_.advance(seconds(100));
  EXPECT_TRUE(intents_->load());
  const auto found = intents_->unsettled_below(key_of("a"), token(100));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].intent, eight_);
  EXPECT_EQ(found[0].since, clock_.now());
  auto again = intents_->try_begin(eight_);
  ASSERT_TRUE(again.has_value()) << "it is on record";
  again->finish();
  EXPECT_TRUE(intents_->any_unsettled()) << "that says nothing about the write of before";
  EXPECT_TRUE(intents_->settle(eight_));
}

TEST_F(IntentsTest, ALedgerThatCannotBeReadIsAFailure) {
  ledger_.readable = false;
  const auto loaded = intents_->load();
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().kind, base::ErrorKind::kLedgerUnavailable);
}

TEST_F(IntentsTest, CloseTakesEverythingFinishedOffTheRecord) {
  const auto ledger = make_memory_ledger();
  Intents intents(*ledger, clock_);
  const auto begin_on = [&intents](const Intent& intent, bool shared) {
    RunningIntent running;
    intents.begin(intent, shared, [&running](base::Result<RunningIntent> result) {
      running = std::move(result.value());
    });
    return running;
  };
  begin_on(seven_, true).finish();
  begin_on(intent_of("b", 1), true).finish();
  begin_on(intent_of("c", 1), false).finish();
  { const RunningIntent lost = begin_on(intent_of("d", 1), true); }
  EXPECT_EQ(intents_now(*ledger).value().size(), 3U);
  intents.close();
  EXPECT_EQ(intents_now(*ledger).value(), std::vector{intent_of("d", 1)});
}

TEST_F(IntentsTest, ListsByKeyWithPrefixAndLimit) {
  for (const char* key : {"b/2", "b/1", "a", "c", "b"}) {
    lose(intent_of(key, 7), true);
  }
  const auto keys = [this](const char* prefix, std::size_t limit) {
    std::vector<std::string> found;
    for (const UnsettledIntent& each : intents_->list_unsettled(prefix, limit)) {
      found.push_back(each.intent.key);
    }
    return found;
  };
  using Keys = std::vector<std::string>;
  EXPECT_EQ(keys("", 100), (Keys{"a", "b", "b/1", "b/2", "c"}));
  EXPECT_EQ(keys("b/", 100), (Keys{"b/1", "b/2"}));
  EXPECT_EQ(keys("b", 2), (Keys{"b", "b/1"}));
  EXPECT_EQ(keys("", 0), Keys{});
  EXPECT_EQ(keys("d", 100), Keys{});
  const auto behind = [this](const Intent& after, const char* prefix) {
    std::vector<std::string> found;
    for (const UnsettledIntent& each : intents_->list_unsettled(prefix, 2, after)) {
      found.push_back(each.intent.key);
    }
    return found;
  };
  EXPECT_EQ(behind(intent_of("b", 7), ""), (Keys{"b/1", "b/2"}));
  EXPECT_EQ(behind(intent_of("b", 6), ""), (Keys{"b", "b/1"})) << "it need not be there";
  EXPECT_EQ(behind(intent_of("a", 7), "b/"), (Keys{"b/1", "b/2"}));
  EXPECT_EQ(behind(intent_of("b/1", 7), "b/"), Keys{"b/2"});
  EXPECT_EQ(behind(intent_of("c", 7), ""), Keys{});
}

TEST_F(IntentsTest, ARunningIntentMovesAndEndsOnce) {
  RunningIntent first = begin_now(seven_, true);
  RunningIntent second = std::move(first);
  first.finish();  // NOLINT(bugprone-use-after-move): does nothing
  RunningIntent third;
  third = std::move(second);
  third.finish();
  EXPECT_FALSE(intents_->any_unsettled());
  RunningIntent lost = begin_now(seven_, true);
  lost = RunningIntent();
  EXPECT_TRUE(intents_->any_unsettled()) << "assigned over, unfinished";
}

}  // namespace
}  // namespace fenceline::fencing
