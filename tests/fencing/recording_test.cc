// One write that names several keys is on record for all of them, or for none.

#include "fencing/recording.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/spawn.h"
#include "tests/support/coroutine.h"
#include "tests/support/ledger_calls.h"
#include "tests/support/manual_clock.h"
#include "tests/support/manual_ledger.h"

namespace fenceline::fencing {
namespace {

using base::ErrorKind;
using testing::intent_of;
using testing::key_of;

class RecordingTest : public ::testing::Test {
 protected:
  using Slot = std::optional<base::Result<std::vector<RunningIntent>>>;

  static base::Awaitable<void> run(Intents& intents, std::vector<Intent> writes, bool shared,
                                   base::TimerWheel& timers, Slot& slot) {
    auto running = co_await put_on_record(intents, std::move(writes), shared, timers, kDeadline);
    slot = std::move(running);
  }

  void start(const std::vector<Intent>& writes, bool shared, Slot& slot) {
    base::spawn(io_, run(intents_, writes, shared, timers_, slot), testing::nothing_thrown);
    poll();
  }

  void poll() {
    io_.restart();
    io_.poll();
  }

  void answer_all() {
    while (ledger_.waiting() > 0) {
      ledger_.answer();
      poll();
    }
  }

  static constexpr base::Milliseconds kDeadline{1000};
  const std::vector<Intent> three_ = {intent_of("a", 5), intent_of("b", 5), intent_of("c", 5)};
  boost::asio::io_context io_{1};
  const base::MonotonicTime start_{};
  base::TimerWheel timers_{base::Milliseconds(10), start_};
  testing::ManualClock clock_;
  testing::ManualLedger ledger_;
  Intents intents_{ledger_, clock_};
};

TEST_F(RecordingTest, AllAreAskedForAtOnceAndNoneRunsBeforeTheLast) {
  Slot slot;
  start(three_, false, slot);
  ASSERT_EQ(ledger_.waiting(), 3U) << "so that one commit can hold them";
  ledger_.answer();
  ledger_.answer();
  poll();
  EXPECT_FALSE(slot.has_value());
  ledger_.answer();
  poll();
  ASSERT_TRUE(slot && slot->has_value());
  EXPECT_EQ((**slot).size(), 3U);
  EXPECT_EQ(ledger_.intents.size(), 3U);
  slot.reset();
  EXPECT_EQ(intents_.unsettled_count(), 3U) << "they ran, and nobody knows";
}

TEST_F(RecordingTest, OneThatFailsTakesAllOff) {
  Slot slot;
  start(three_, true, slot);
  ledger_.answer();
  ledger_.refuse();
  poll();
  EXPECT_FALSE(slot.has_value()) << "the third is still under way";
  ledger_.answer();
  poll();
  ASSERT_TRUE(slot && !slot->has_value());
  EXPECT_EQ(slot->error().kind, ErrorKind::kLedgerUnavailable);
  EXPECT_FALSE(intents_.any_unsettled()) << "nothing was sent";
}

TEST_F(RecordingTest, OneThatFailsIsDroppedFromTheRecord) {
  Slot slot;
  start(three_, false, slot);
  ledger_.refuse();
  ledger_.answer();
  ledger_.answer();
  poll();
  ASSERT_TRUE(slot && !slot->has_value());
  answer_all();
  EXPECT_TRUE(ledger_.intents.empty());
}

TEST_F(RecordingTest, WhatComesAfterTheDeadlineIsFinished) {
  Slot slot;
  start(three_, false, slot);
  ledger_.answer();
  poll();
  timers_.advance(start_ + kDeadline + base::Milliseconds(20));
  poll();
  ASSERT_TRUE(slot && !slot->has_value());
  EXPECT_EQ(slot->error().kind, ErrorKind::kLedgerUnavailable);
  answer_all();
  EXPECT_FALSE(intents_.any_unsettled());
  EXPECT_TRUE(ledger_.intents.empty());
}

TEST_F(RecordingTest, TheyComeInTheOrderInWhichTheyWereAskedFor) {
  Slot before;
  start({intent_of("b", 5)}, true, before);
  answer_all();
  ASSERT_TRUE(before && before->has_value());
  (**before).front().finish();
  Slot slot;
  start({intent_of("a", 5), intent_of("b", 5)}, true, slot);
  ASSERT_EQ(ledger_.waiting(), 1U) << "the second is on record already";
  answer_all();
  ASSERT_TRUE(slot && slot->has_value());
  (**slot).front().finish();
  slot.reset();
  EXPECT_EQ(intents_.unsettled_of(key_of("a")).size(), 0U);
  EXPECT_EQ(intents_.unsettled_of(key_of("b")).size(), 1U);
}

TEST_F(RecordingTest, OneAloneIsOneRequest) {
  Slot slot;
  start({intent_of("a", 5)}, true, slot);
  EXPECT_EQ(ledger_.waiting(), 1U);
  answer_all();
  ASSERT_TRUE(slot && slot->has_value());
  (**slot).front().finish();
  Slot again;
  start({intent_of("a", 5)}, true, again);
  EXPECT_EQ(ledger_.waiting(), 0U) << "it is there already";
  ASSERT_TRUE(again && again->has_value());
  (**again).front().finish();
}

}  // namespace
}  // namespace fenceline::fencing
