#include <gtest/gtest.h>

#include <memory>
#include <optional>
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

template <typename T>
using Slot = std::shared_ptr<std::optional<Result<T>>>;

class GateResetTest : public ::testing::Test {
 protected:
  Slot<Ticket> start_admit(std::int64_t token) {
    auto slot = std::make_shared<std::optional<Result<Ticket>>>();
    gate_.admit(kKey, Claim{Token::of(token), {}, 0}, Announce::kYes,
                [slot](Result<Ticket> answer) { *slot = std::move(answer); });
    return slot;
  }

  Result<Ticket> admit(std::int64_t token) {
    const auto slot = start_admit(token);
    EXPECT_TRUE(slot->has_value()) << "admit did not answer";
    return std::move(**slot);
  }

  Slot<Permit> start_enter(Ticket& ticket) {
    auto slot = std::make_shared<std::optional<Result<Permit>>>();
    gate_.enter(ticket, [slot](Result<Permit> answer) { *slot = std::move(answer); });
    return slot;
  }

  Slot<ResetOutcome> start_reset(const ResetOrder& order) {
    auto slot = std::make_shared<std::optional<Result<ResetOutcome>>>();
    gate_.reset(kKey, order, [slot](Result<ResetOutcome> answer) { *slot = std::move(answer); });
    return slot;
  }

  /// A reset that the ledger answers at once.
  Result<ResetOutcome> reset(const ResetOrder& order) {
    const auto slot = start_reset(order);
    while (ledger_.waiting() > 0) {
      ledger_.answer();
    }
    EXPECT_TRUE(slot->has_value()) << "reset did not answer";
    return std::move(**slot);
  }

  /// A durable mark that nobody holds.
  Ticket durable(std::int64_t token) {
    Ticket ticket = admit(token).value();
    while (ledger_.waiting() > 0) {
      ledger_.answer();
    }
    return ticket;
  }

  /// True if it need not wait.
  bool enters(Ticket& ticket) {
    const auto entered = gate_.try_enter(ticket);
    return entered && entered->has_value();
  }

  /// Why it may not enter; nothing if it may, or has to wait.
  std::optional<ErrorKind> refused_entry(Ticket& ticket) {
    const auto entered = gate_.try_enter(ticket);
    return entered && !*entered ? std::optional(entered->error().kind) : std::nullopt;
  }

  Permit inside(std::int64_t token) {
    Ticket ticket = durable(token);
    return gate_.try_enter(ticket).value().value();
  }

  void expect_busy(const std::string& who) {
    const auto slot = start_reset(order_to(5));
    ASSERT_TRUE(slot->has_value());
    ASSERT_FALSE((*slot)->has_value());
    EXPECT_EQ((*slot)->error().kind, ErrorKind::kFenceBusy);
    EXPECT_NE((*slot)->error().detail.find(who), std::string::npos) << (*slot)->error().detail;
  }

  testing::ManualLedger ledger_;
  Gate gate_{ledger_, {}};
};

TEST_F(GateResetTest, LowersTheMarkInTheLedgerAndInMemory) {
  durable(100);
  EXPECT_EQ(reset(order_to(5, 100)).value().after, mark_of(5));
  EXPECT_EQ(ledger_.marks["exports/acme"], mark_of(5));
  EXPECT_EQ(gate_.highest(kKey), Token::of(5));
  EXPECT_EQ(admit(4).error().kind, ErrorKind::kStaleToken);
  Ticket current = admit(5).value();
  EXPECT_TRUE(enters(current)) << "the mark is current and durable";
  EXPECT_EQ(ledger_.waiting(), 0U);
}

TEST_F(GateResetTest, AKeyThatIsNotInMemoryIsResetByTheLedgerAlone) {
  ledger_.marks["exports/acme"] = mark_of(100, "worker-1");
  EXPECT_EQ(reset(order_to(5)).value().before, mark_of(100, "worker-1"));
  EXPECT_EQ(gate_.highest(kKey), Token::of(5));
  EXPECT_EQ(reset(order_to(5)).value().verdict, ResetVerdict::kUnchanged);
}

TEST_F(GateResetTest, TheHolderIsNoLongerBound) {
  const Claim bound{Token::of(100), "worker-1", 0};
  gate_.admit(kKey, bound, Announce::kYes, [](const Result<Ticket>&) {});
  ledger_.answer();
  EXPECT_EQ(reset(order_to(100)).value().after, mark_of(100));
  const Claim other{Token::of(100), "worker-2", 0};
  EXPECT_TRUE(gate_.try_admit(kKey, other)->has_value());
}

TEST_F(GateResetTest, AnOrderThatDoesNotFitLeavesTheFenceAsItWas) {
  durable(100);
  EXPECT_EQ(reset(order_to(5, 99)).error().kind, ErrorKind::kMarkConflict);
  EXPECT_EQ(reset(order_to(101)).error().kind, ErrorKind::kMarkConflict);
  EXPECT_EQ(admit(99).error().kind, ErrorKind::kStaleToken);
  Ticket current = admit(100).value();
  EXPECT_TRUE(enters(current));
}

TEST_F(GateResetTest, AKeyThatWasNeverFencedHasNothingToReset) {
  EXPECT_EQ(reset(order_to(5)).error().kind, ErrorKind::kNotFound);
  EXPECT_TRUE(durable(3).took_over());
}

TEST_F(GateResetTest, IsRefusedWhileAnybodyIsInside) {
  Permit writer = inside(100);
  expect_busy("1 with token 100");
  writer.settle(Settlement::kApplied);
  EXPECT_TRUE(reset(order_to(5)).has_value());
}

TEST_F(GateResetTest, IsRefusedWhileAnOutcomeIsInDoubt) {
  { const Permit lost = inside(100); }
  expect_busy("in doubt (token 100)");
  ASSERT_TRUE(gate_.resolve(kKey, Token::of(100)));
  EXPECT_TRUE(reset(order_to(5)).has_value());
}

TEST_F(GateResetTest, IsRefusedWhileARaiseIsPending) {
  Ticket raiser = admit(100).value();
  expect_busy("not durable");
  ASSERT_EQ(ledger_.waiting(), 1U) << "no second raise";
  ledger_.answer();
  EXPECT_TRUE(reset(order_to(5)).has_value());
}

TEST_F(GateResetTest, ARaiseThatFailedIsTriedAgainInsteadOfBlockingResetsForEver) {
  durable(50);
  {
    Ticket raiser = admit(100).value();
    ledger_.refuse();
  }
  expect_busy("not durable");
  ASSERT_EQ(ledger_.waiting(), 1U);
  ledger_.answer();
  EXPECT_EQ(reset(order_to(5)).value().before, mark_of(100));
}

TEST_F(GateResetTest, IsRefusedWhileTheMarkIsReadOrAnotherResetRuns) {
  ledger_.answer_finds = false;
  ledger_.marks["exports/acme"] = mark_of(100);
  const auto reading = start_admit(100);
  expect_busy("being read");
  ledger_.answer();
  const auto first = start_reset(order_to(6));
  expect_busy("being read or set back");
  ledger_.answer();
  EXPECT_EQ((*first)->value().after, mark_of(6));
}

TEST_F(GateResetTest, UntilTheLedgerHasAnsweredNobodyIsAdmitted) {
  durable(100);
  const auto running = start_reset(order_to(5));
  ASSERT_FALSE(running->has_value());
  EXPECT_EQ(gate_.try_admit(kKey, Claim{Token::of(100), {}, 0}), std::nullopt);
  const auto stale = start_admit(4);
  const auto current = start_admit(5);
  const auto higher = start_admit(100);
  EXPECT_FALSE(stale->has_value() || current->has_value() || higher->has_value());
  ASSERT_EQ(ledger_.waiting(), 1U) << "no read and no raise beside the reset";
  ledger_.answer();
  EXPECT_EQ((*stale)->error().kind, ErrorKind::kStaleToken);
  EXPECT_TRUE((*current)->has_value());
  EXPECT_TRUE((*higher)->has_value()) << "above the new mark: a takeover, as any other";
  EXPECT_EQ(gate_.highest(kKey), Token::of(100));
}

// A write of before the source was reset, held up while it staged: its token is the mark again.
TEST_F(GateResetTest, WhatWasAdmittedBeforeNeverEnters) {
  Ticket overtaken = durable(50);
  Ticket current = durable(100);
  ASSERT_TRUE(reset(order_to(50)).has_value());
  for (Ticket* ticket : {&overtaken, &current}) {
    const auto refused = gate_.try_enter(*ticket);
    ASSERT_TRUE(refused.has_value());
    EXPECT_EQ(refused->error().kind, ErrorKind::kDraining);
    EXPECT_EQ(refused->error().applied, base::Applied::kNo);
    const auto waited = start_enter(*ticket);
    ASSERT_TRUE(waited->has_value());
    EXPECT_EQ((*waited)->error().kind, ErrorKind::kDraining);
  }
  Ticket fresh = admit(50).value();
  EXPECT_TRUE(enters(fresh));
}

TEST_F(GateResetTest, AMovedTicketIsStillFromBeforeOrAfter) {
  Ticket before = durable(100);
  ASSERT_TRUE(reset(order_to(50)).has_value());
  Ticket after = admit(50).value();
  std::swap(before, after);
  EXPECT_TRUE(enters(before)) << "it was admitted after the reset";
  EXPECT_EQ(refused_entry(after), ErrorKind::kDraining) << "it was admitted before the reset";
}

TEST_F(GateResetTest, NobodyEntersWhileItRuns) {
  Ticket before = durable(100);
  const auto running = start_reset(order_to(100));
  EXPECT_EQ(refused_entry(before), ErrorKind::kDraining);
  ledger_.answer();
  EXPECT_EQ(refused_entry(before), ErrorKind::kDraining);
}

// In doubt, and it was done: the next admission learns it from the ledger.
TEST_F(GateResetTest, InDoubtTheKeyIsClosedUntilTheLedgerSaysWhatItHolds) {
  Ticket before = durable(100);  // keeps the key in memory
  const auto doubtful = start_reset(order_to(5));
  ledger_.answer_in_doubt();
  EXPECT_EQ((*doubtful)->error().applied, base::Applied::kUnknown);
  EXPECT_EQ(gate_.view(kKey), std::nullopt);
  ledger_.answer_finds = false;
  const auto asking = start_admit(5);
  ASSERT_FALSE(asking->has_value());
  ledger_.refuse();
  EXPECT_EQ((*asking)->error().kind, ErrorKind::kLedgerUnavailable);
  const auto again = start_admit(4);
  ledger_.answer();
  EXPECT_EQ((*again)->error().kind, ErrorKind::kStaleToken);
  EXPECT_EQ(gate_.highest(kKey), Token::of(5)) << "not raised again by what memory held";
  EXPECT_EQ(ledger_.waiting(), 0U);
}

TEST_F(GateResetTest, RefusedByTheLedgerTheMarkStays) {
  Ticket before = durable(100);
  const auto refused = start_reset(order_to(5));
  ledger_.refuse();
  EXPECT_EQ((*refused)->error().kind, ErrorKind::kLedgerUnavailable);
  EXPECT_EQ(admit(99).error().kind, ErrorKind::kStaleToken);
  EXPECT_EQ(ledger_.marks["exports/acme"], mark_of(100));
}

TEST_F(GateResetTest, AFailedResetOfAnIdleKeyLeavesNothingInMemory) {
  const auto refused = start_reset(order_to(5));
  ledger_.refuse();
  ASSERT_TRUE(refused->has_value());
  EXPECT_EQ(gate_.cached_keys(), 0U);
}

TEST(GateResetOnRecordTest, AWriteOnRecordThatIsNotSettledStandsInTheWay) {
  ::fenceline::testing::ManualLedger ledger;
  std::vector<Token> on_record = {Token::of(7), Token::of(9)};
  Gate gate(ledger, GateOptions{.unsettled_on_record = [&](const base::FenceKey& key) {
              EXPECT_EQ(key, kKey);
              return on_record;
            }});
  ledger.marks[kKey.text()] = mark_of(100);
  std::optional<Result<ResetOutcome>> outcome;
  const auto reset = [&] {
    gate.reset(kKey, order_to(5),
               [&](Result<ResetOutcome> answer) { outcome = std::move(answer); });
  };
  reset();
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->error().kind, ErrorKind::kFenceBusy);
  EXPECT_NE(outcome->error().detail.find("7, 9"), std::string::npos) << outcome->error().detail;
  EXPECT_EQ(ledger.waiting(), 0U);
  on_record.clear();
  outcome.reset();
  reset();
  ledger.answer();
  EXPECT_EQ(outcome->value().after, mark_of(5));
}

}  // namespace
}  // namespace fenceline::fencing
