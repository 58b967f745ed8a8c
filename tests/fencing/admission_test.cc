#include "fencing/admission.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/spawn.h"
#include "tests/support/coroutine.h"
#include "tests/support/manual_ledger.h"

namespace fenceline::fencing {
namespace {

using base::ErrorKind;
using base::FenceKey;
using base::Result;
using base::Token;

std::vector<FenceKey> keys(const std::vector<std::string>& texts) {
  std::vector<FenceKey> made;
  for (const std::string& text : texts) {
    made.push_back(*FenceKey::parse(text));
  }
  return made;
}

class AdmissionTest : public ::testing::Test {
 protected:
  using TicketSlot = std::optional<Result<Tickets>>;
  using PermitSlot = std::optional<Result<Permits>>;

  static base::Awaitable<void> run_admit(Gate& gate, std::vector<FenceKey> names, Claim claim,
                                         base::TimerWheel& timers, TicketSlot& slot) {
    auto tickets = co_await admit(gate, std::move(names), claim, timers, kDeadline);
    slot = std::move(tickets);
  }

  static base::Awaitable<void> run_enter(Gate& gate, Tickets& tickets, base::TimerWheel& timers,
                                         PermitSlot& slot) {
    auto permits = co_await enter(gate, tickets, timers, kDeadline);
    slot = std::move(permits);
  }

  void start_admit(const std::vector<std::string>& names, std::int64_t token, TicketSlot& slot) {
    base::spawn(io_, run_admit(gate_, keys(names), Claim{Token::of(token), "", 0}, timers_, slot),
                testing::nothing_thrown);
    poll();
  }

  void start_enter(Tickets& tickets, PermitSlot& slot) {
    base::spawn(io_, run_enter(gate_, tickets, timers_, slot), testing::nothing_thrown);
    poll();
  }

  void poll() {
    io_.restart();
    io_.poll();
  }

  void answer_all() {
    while (ledger_.waiting() > 0) {
      ledger_.answer();
    }
    poll();
  }

  /// A permit for one key that the test holds.
  Permits hold(const std::string& name, std::int64_t token) {
    TicketSlot tickets;
    start_admit({name}, token, tickets);
    answer_all();
    PermitSlot permits;
    start_enter(**tickets, permits);
    return std::move(**permits);
  }

  static constexpr base::Milliseconds kDeadline{1000};
  base::MonotonicTime start_{};
  boost::asio::io_context io_{1};
  base::TimerWheel timers_{base::Milliseconds(10), start_};
  testing::ManualLedger ledger_;
  Gate gate_{ledger_, {}};
};

TEST_F(AdmissionTest, DistinctKeysGetOneTicketEachInSortedOrder) {
  TicketSlot slot;
  start_admit({"b", "a", "b", "c"}, 7, slot);
  ASSERT_TRUE(slot.has_value() && slot->has_value());
  EXPECT_EQ((*slot)->size(), 3U);
  EXPECT_EQ(ledger_.waiting(), 3U);
}

TEST_F(AdmissionTest, ARefusalForOneKeyRaisesNoOther) {
  Permits held = hold("c", 9);
  settle(held, Settlement::kApplied);
  TicketSlot slot;
  start_admit({"a", "b", "c"}, 8, slot);
  ASSERT_TRUE(slot.has_value());
  EXPECT_EQ(slot->error().kind, ErrorKind::kStaleToken);
  EXPECT_EQ(ledger_.waiting(), 0U);
  EXPECT_EQ(gate_.highest(*FenceKey::parse("a")), Token());
  EXPECT_EQ(gate_.highest(*FenceKey::parse("b")), Token());
}

TEST_F(AdmissionTest, EnteringSeveralKeysWaitsForEachAndLeavesAllOnARefusal) {
  Permits old = hold("b", 7);
  TicketSlot tickets;
  start_admit({"a", "b"}, 8, tickets);
  answer_all();
  PermitSlot permits;
  start_enter(**tickets, permits);
  EXPECT_FALSE(permits.has_value());
  EXPECT_EQ(gate_.view(*FenceKey::parse("a"))->inside, 1U);

  TicketSlot newer;
  start_admit({"b"}, 9, newer);
  poll();
  ASSERT_TRUE(permits.has_value());
  EXPECT_EQ(permits->error().kind, ErrorKind::kStaleToken);
  EXPECT_EQ(gate_.view(*FenceKey::parse("a"))->inside, 0U);
  EXPECT_TRUE(gate_.view(*FenceKey::parse("a"))->unsettled.empty());
  settle(old, Settlement::kApplied);
}

TEST_F(AdmissionTest, AWaitAtEnterEndsAtItsDeadline) {
  Permits old = hold("a", 7);
  TicketSlot tickets;
  start_admit({"a"}, 8, tickets);
  answer_all();
  PermitSlot permits;
  start_enter(**tickets, permits);
  timers_.advance(start_ + kDeadline - base::Milliseconds(10));
  poll();
  EXPECT_FALSE(permits.has_value()) << "gave up early";
  timers_.advance(start_ + kDeadline + base::Milliseconds(20));
  poll();
  ASSERT_TRUE(permits.has_value());
  EXPECT_EQ(permits->error().kind, ErrorKind::kDraining);
  settle(old, Settlement::kApplied);
}

TEST_F(AdmissionTest, AMarkThatCannotBeReadInTimeIs503AndALateAnswerIsDropped) {
  ledger_.answer_finds = false;
  TicketSlot slot;
  start_admit({"a"}, 8, slot);
  EXPECT_FALSE(slot.has_value());
  timers_.advance(start_ + kDeadline + base::Milliseconds(20));
  poll();
  ASSERT_TRUE(slot.has_value());
  EXPECT_EQ(slot->error().kind, ErrorKind::kLedgerUnavailable);
  answer_all();
  EXPECT_EQ(gate_.view(*FenceKey::parse("a"))->inside, 0U);
}

TEST_F(AdmissionTest, TheSteadyStateNeedsNoWaiting) {
  TicketSlot tickets;
  start_admit({"a"}, 8, tickets);
  Permits permits;
  EXPECT_FALSE(try_enter(gate_, **tickets, permits).has_value());
  answer_all();
  const auto entered = try_enter(gate_, **tickets, permits);
  ASSERT_TRUE(entered.has_value() && entered->has_value());
  EXPECT_EQ(permits.size(), 1U);
  settle(permits, Settlement::kApplied);
  Tickets again;
  const Claim claim{Token::of(8), "", 0};
  EXPECT_TRUE(try_admit(gate_, *FenceKey::parse("a"), claim, again)->has_value());
  EXPECT_EQ(again.size(), 1U);
  EXPECT_FALSE(try_admit(gate_, *FenceKey::parse("unknown"), claim, again).has_value());
  Tickets none;
  EXPECT_TRUE(try_enter(gate_, none, permits)->has_value());
}

}  // namespace
}  // namespace fenceline::fencing
