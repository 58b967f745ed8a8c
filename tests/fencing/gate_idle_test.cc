// Keys that are idle for long are packed: what the gate knows of them is the same as before.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fencing/gate.h"
#include "tests/support/ledger_calls.h"
#include "tests/support/manual_ledger.h"

namespace fenceline::fencing {
namespace {

using base::ErrorKind;
using base::Result;
using base::Token;
using ::fenceline::testing::key_of;
using ::fenceline::testing::mark_of;
using ::fenceline::testing::order_to;

const base::FenceKey kKey = key_of("exports/acme");

/// No idle key stays warm.
const GateOptions kPackAtOnce{.max_cached_keys = 1U << 20U, .max_warm_keys = 0};

class GateIdleTest : public ::testing::Test {
 protected:
  /// Admits, with every call to the ledger answered, and counted.
  Result<Ticket> admit(const base::FenceKey& key, std::int64_t token,
                       const std::string& holder = "") {
    std::optional<Result<Ticket>> outcome;
    gate_->admit(key, Claim{Token::of(token), holder, 0}, Announce::kYes,
                 [&outcome](Result<Ticket> answer) { outcome = std::move(answer); });
    answer_all();
    EXPECT_TRUE(outcome.has_value()) << "admit did not answer";
    return std::move(*outcome);
  }

  void answer_all() {
    for (; ledger_.waiting() > 0; ++calls_) {
      ledger_.answer();
    }
  }

  void make_gate(GateOptions options) { gate_ = std::make_unique<Gate>(ledger_, options); }

  void SetUp() override {
    ledger_.answer_finds = false;
    make_gate(kPackAtOnce);
  }

  testing::ManualLedger ledger_;
  std::unique_ptr<Gate> gate_;
  int calls_ = 0;
};

TEST_F(GateIdleTest, APackedMarkRefusesOlderTokensWithoutTheLedger) {
  ASSERT_TRUE(admit(kKey, 34, "worker-a"));
  calls_ = 0;
  EXPECT_EQ(admit(kKey, 33).error().kind, ErrorKind::kStaleToken);
  EXPECT_EQ(admit(kKey, 34, "worker-b").error().kind, ErrorKind::kHolderConflict);
  Ticket again = *admit(kKey, 34, "worker-a");
  EXPECT_FALSE(again.took_over());
  EXPECT_TRUE(gate_->try_enter(again)->has_value()) << "it is durable";
  EXPECT_EQ(calls_, 0);
}

TEST_F(GateIdleTest, TryAdmitFindsAPackedMark) {
  ASSERT_TRUE(admit(kKey, 34));
  for (const auto announce : {Announce::kNo, Announce::kYes}) {
    const auto stale = gate_->try_admit(kKey, Claim{Token::of(33), {}, 0}, announce);
    ASSERT_TRUE(stale.has_value());
    EXPECT_EQ(stale->error().kind, ErrorKind::kStaleToken);
    const auto current = gate_->try_admit(kKey, Claim{Token::of(34), {}, 0}, announce);
    ASSERT_TRUE(current.has_value());
    EXPECT_TRUE(current->has_value());
  }
  EXPECT_EQ(gate_->try_admit(key_of("other"), Claim{Token::of(34), {}, 0}), std::nullopt);
}

TEST_F(GateIdleTest, APackedMarkIsSeenByWhoeverLooks) {
  ASSERT_TRUE(admit(kKey, 34, "worker-a"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(gate_->highest(kKey), Token::of(34));
    const auto view = gate_->view(kKey);
    ASSERT_TRUE(view.has_value());
    EXPECT_EQ(view->announced, mark_of(34, "worker-a"));
    EXPECT_TRUE(view->durable);
    EXPECT_EQ(view->inside + view->waiting + view->unsettled.size(), 0U);
    EXPECT_EQ(gate_->cached_keys(), 1U);
  }
  EXPECT_EQ(gate_->highest(key_of("other")), Token());
  EXPECT_EQ(gate_->view(key_of("other")), std::nullopt);
}

TEST_F(GateIdleTest, ARaiseLeavesNoOlderMarkBehind) {
  for (std::int64_t token = 1; token < 50; ++token) {
    const Ticket ticket = *admit(kKey, token);
    EXPECT_TRUE(ticket.took_over());
    EXPECT_EQ(ticket.previous(), token == 1 ? Token() : Token::of(token - 1));
    EXPECT_EQ(gate_->cached_keys(), 1U);
  }
  EXPECT_EQ(admit(kKey, 48).error().kind, ErrorKind::kStaleToken);
}

TEST_F(GateIdleTest, AKeyThatWasNeverFencedIsKnownToBe) {
  gate_->admit(kKey, Claim{Token::of(9), {}, 0}, Announce::kNo, [](const Result<Ticket>&) {});
  answer_all();
  calls_ = 0;
  EXPECT_EQ(gate_->view(kKey)->announced, Mark());
  const auto ticket = gate_->try_admit(kKey, Claim{Token::of(3), {}, 0}, Announce::kNo);
  ASSERT_TRUE(ticket.has_value());
  EXPECT_TRUE(ticket->has_value());
  EXPECT_EQ(calls_, 0);
}

TEST_F(GateIdleTest, AResetOfAPackedKeyIsWhatCountsFromThenOn) {
  ASSERT_TRUE(admit(kKey, 100, "worker-a"));
  std::optional<Result<ResetOutcome>> outcome;
  const ResetOrder order = order_to(5, 100);
  gate_->reset(kKey, order,
               [&outcome](Result<ResetOutcome> answer) { outcome = std::move(answer); });
  EXPECT_EQ(gate_->view(kKey), std::nullopt) << "closed until the ledger has answered";
  EXPECT_EQ(gate_->try_admit(kKey, Claim{Token::of(100), {}, 0}), std::nullopt);
  answer_all();
  EXPECT_EQ(outcome->value().after, mark_of(5));
  calls_ = 0;
  EXPECT_EQ(gate_->highest(kKey), Token::of(5));
  EXPECT_EQ(admit(kKey, 4).error().kind, ErrorKind::kStaleToken);
  EXPECT_TRUE(admit(kKey, 5, "worker-b").has_value());
  EXPECT_EQ(calls_, 1) << "the raise that binds the holder";
}

TEST_F(GateIdleTest, AResetInDoubtLeavesNoMarkBehind) {
  ASSERT_TRUE(admit(kKey, 100));
  std::optional<Result<ResetOutcome>> outcome;
  const ResetOrder order = order_to(5);
  gate_->reset(kKey, order,
               [&outcome](Result<ResetOutcome> answer) { outcome = std::move(answer); });
  ledger_.answer_in_doubt();
  ASSERT_FALSE(outcome->has_value());
  EXPECT_EQ(gate_->cached_keys(), 0U);
  EXPECT_EQ(gate_->highest(kKey), Token());
  EXPECT_EQ(admit(kKey, 4).error().kind, ErrorKind::kStaleToken) << "the reset was done";
  EXPECT_EQ(gate_->highest(kKey), Token::of(5));
}

TEST_F(GateIdleTest, WhatIsNotDurableOrInDoubtIsNotPacked) {
  {
    std::optional<Result<Ticket>> outcome;
    gate_->admit(kKey, Claim{Token::of(34), {}, 0}, Announce::kYes,
                 [&outcome](Result<Ticket> answer) { outcome = std::move(answer); });
    ledger_.answer();  // the find
    ASSERT_TRUE(outcome->has_value());
    ledger_.refuse();  // the raise
  }
  EXPECT_FALSE(gate_->view(kKey)->durable);
  Ticket ticket = *admit(kKey, 34);
  (*gate_->try_enter(ticket))->settle(Settlement::kInDoubt);
  ticket = Ticket();
  EXPECT_EQ(gate_->view(kKey)->unsettled, std::vector{Token::of(34)});
  EXPECT_TRUE(gate_->resolve(kKey, Token::of(34)));
  EXPECT_EQ(admit(kKey, 33).error().kind, ErrorKind::kStaleToken);
}

TEST_F(GateIdleTest, AForgottenMarkIsAskedForAgain) {
  make_gate({.max_cached_keys = 64, .max_warm_keys = 64});  // 16 keys a shard, one of them warm
  constexpr int kKeys = 5000;
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_TRUE(admit(key_of("k/" + std::to_string(i)), 7).has_value());
  }
  EXPECT_EQ(gate_->cached_keys(), 64U * 16U);
  calls_ = 0;
  for (int i = kKeys; i-- > 0;) {
    const base::FenceKey key = key_of("k/" + std::to_string(i));
    const bool in_memory = gate_->view(key).has_value();
    const int before = calls_;
    ASSERT_EQ(admit(key, 6).error().kind, ErrorKind::kStaleToken) << i;
    ASSERT_EQ(calls_ - before, in_memory ? 0 : 1) << i;
    ASSERT_EQ(gate_->highest(key), Token::of(7));
  }
  EXPECT_GE(calls_, kKeys - 64 * 16);
  EXPECT_LE(gate_->cached_keys(), 64U * 16U);
}

TEST_F(GateIdleTest, PackedKeysMakeRoomForKeysInUse) {
  make_gate({.max_cached_keys = 64, .max_warm_keys = 0});
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(admit(key_of("idle/" + std::to_string(i)), 7).has_value());
  }
  std::vector<Ticket> held;
  std::size_t refused = 0;
  for (int i = 0; i < 5000; ++i) {
    auto ticket = admit(key_of("k/" + std::to_string(i)), 7);
    if (ticket) {
      held.push_back(std::move(*ticket));
    } else {
      ASSERT_EQ(ticket.error().kind, ErrorKind::kOverloaded);
      ++refused;
    }
  }
  EXPECT_EQ(held.size(), 64U * 16U);
  EXPECT_EQ(gate_->cached_keys(), 64U * 16U);
  EXPECT_EQ(refused, 5000 - held.size());
}

// Whatever is warm, packed or forgotten: the gate decides as the marks in the ledger say.
TEST_F(GateIdleTest, DecidesAsTheLedgerWouldAtAnySize) {
  make_gate({.max_cached_keys = 64, .max_warm_keys = 128});
  std::mt19937_64 random(11);
  std::vector<std::int64_t> highest(3000, 0);
  for (int i = 0; i < 60'000; ++i) {
    const std::size_t k = random() % highest.size();
    const base::FenceKey key = key_of("k/" + std::to_string(k));
    const auto token = static_cast<std::int64_t>(1 + random() % 100);
    if (random() % 50 == 0 && highest[k] > 1) {
      std::optional<Result<ResetOutcome>> outcome;
      const ResetOrder order = order_to(highest[k] / 2);
      gate_->reset(key, order,
                   [&outcome](Result<ResetOutcome> answer) { outcome = std::move(answer); });
      answer_all();
      ASSERT_TRUE(outcome->has_value());
      highest[k] /= 2;
      continue;
    }
    const auto ticket = admit(key, token);
    ASSERT_EQ(ticket.has_value(), token >= highest[k]) << k;
    highest[k] = std::max(highest[k], token);
    ASSERT_EQ(gate_->highest(key), Token::of(highest[k])) << k;
    ASSERT_EQ(ledger_.marks[key.text()].token, Token::of(highest[k])) << k;
  }
  EXPECT_LE(gate_->cached_keys(), 64U * 16U);
}

}  // namespace
}  // namespace fenceline::fencing
