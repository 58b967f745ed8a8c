#include "fencing/gate.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/manual_ledger.h"

namespace fenceline::fencing {
namespace {

using base::ErrorKind;
using base::FenceKey;
using base::Result;
using base::Token;

FenceKey key(const std::string& text = "exports/acme") { return *FenceKey::parse(text); }

class GateTest : public ::testing::Test {
 protected:
  Result<Ticket> admit(std::int64_t token, const std::string& holder = "",
                       std::int64_t max_jump = 0, const FenceKey& fence = key()) {
    std::optional<Result<Ticket>> outcome;
    const Claim claim{Token::of(token), holder, max_jump};
    gate_.admit(fence, claim, Announce::kYes,
                [&outcome](Result<Ticket> answer) { outcome = std::move(answer); });
    EXPECT_TRUE(outcome.has_value()) << "admit did not answer";
    return std::move(*outcome);
  }

  /// Starts an enter; the slot is empty while it waits.
  using Slot = std::shared_ptr<std::optional<Result<Permit>>>;
  Slot enter(Ticket& ticket) {
    auto slot = std::make_shared<std::optional<Result<Permit>>>();
    gate_.enter(ticket, [slot](Result<Permit> answer) { *slot = std::move(answer); });
    return slot;
  }

  /// A permit that is inside, with its raise answered.
  Permit inside(std::int64_t token) {
    Ticket ticket = *admit(token);
    while (ledger_.waiting() > 0) {
      ledger_.answer();
    }
    Result<Permit> permit = *gate_.try_enter(ticket);
    EXPECT_TRUE(permit.has_value());
    return std::move(*permit);
  }

  testing::ManualLedger ledger_;
  Gate gate_{ledger_, {}};
};

TEST_F(GateTest, AFirstTokenRaisesTheMarkAndIsATakeover) {
  Ticket ticket = *admit(33);
  EXPECT_TRUE(ticket.took_over());
  EXPECT_EQ(ticket.previous(), Token());
  EXPECT_EQ(ledger_.waiting(), 1U);
  ledger_.answer();
  EXPECT_EQ(ledger_.marks["exports/acme"].token, Token::of(33));
}

TEST_F(GateTest, AnEqualTokenCostsNoLedgerCall) {
  Permit first = inside(33);
  Ticket again = *admit(33);
  EXPECT_FALSE(again.took_over());
  EXPECT_EQ(ledger_.waiting(), 0U);
  EXPECT_TRUE(gate_.try_enter(again)->has_value());
}

TEST_F(GateTest, ALowerTokenIsRefusedWithBothNumbers) {
  Permit current = inside(34);
  const auto refused = admit(33);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kStaleToken);
  EXPECT_NE(refused.error().detail.find("33"), std::string::npos);
  EXPECT_NE(refused.error().detail.find("34"), std::string::npos);
  EXPECT_EQ(gate_.highest(key()), Token::of(34));
}

// Model d1, mutant MEM_FIRST: nobody acts on a mark as current before it is durable.
TEST_F(GateTest, NobodyEntersBeforeTheRaiseIsDurable) {
  Ticket raiser = *admit(34);
  Ticket equal = *admit(34);
  EXPECT_FALSE(gate_.try_enter(raiser).has_value());
  EXPECT_FALSE(gate_.try_enter(equal).has_value());
  const Slot first = enter(raiser);
  const Slot second = enter(equal);
  EXPECT_FALSE(first->has_value());
  EXPECT_FALSE(second->has_value());
  ledger_.answer();
  ASSERT_TRUE(first->has_value());
  ASSERT_TRUE(second->has_value());
  EXPECT_TRUE((*first)->has_value());
  EXPECT_TRUE((*second)->has_value());
}

// The cached mark may always reject, also before it is durable.
TEST_F(GateTest, AnAnnouncedTokenRejectsOlderOnesAtOnce) {
  Ticket newer = *admit(34);
  ASSERT_EQ(ledger_.waiting(), 1U);
  EXPECT_EQ(admit(33).error().kind, ErrorKind::kStaleToken);
}

// Model d1, mutant NO_RECHECK.
TEST_F(GateTest, AStagedWriteThatWasOvertakenIsFencedAtEnter) {
  Ticket old = *admit(33);
  ledger_.answer();
  Ticket newer = *admit(34);
  const auto refused = gate_.try_enter(old);
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->error().kind, ErrorKind::kStaleToken);
}

TEST_F(GateTest, ANewerTokenFencesThoseThatWait) {
  Ticket old = *admit(33);
  const Slot waiting = enter(old);
  ASSERT_FALSE(waiting->has_value());
  Ticket newer = *admit(34);
  ASSERT_TRUE(waiting->has_value());
  EXPECT_EQ((*waiting)->error().kind, ErrorKind::kStaleToken);
}

// Model d1, mutants NO_DRAIN and RAISER_ONLY: every newer request waits, not only the raiser.
TEST_F(GateTest, EveryNewerRequestWaitsForOlderCommits) {
  Permit old = inside(33);
  Ticket raiser = *admit(34);
  ledger_.answer();
  Ticket equal = *admit(34);
  const Slot first = enter(raiser);
  const Slot second = enter(equal);
  EXPECT_FALSE(first->has_value());
  EXPECT_FALSE(second->has_value());
  old.settle(Settlement::kApplied);
  EXPECT_TRUE(first->has_value() && (*first)->has_value());
  EXPECT_TRUE(second->has_value() && (*second)->has_value());
}

TEST_F(GateTest, TheDrainWaitsForTheLastOfSeveralOlderCommits) {
  Permit one = inside(33);
  Permit two = inside(33);
  Ticket newer = *admit(34);
  ledger_.answer();
  const Slot waiting = enter(newer);
  one.settle(Settlement::kApplied);
  EXPECT_FALSE(waiting->has_value());
  two.settle(Settlement::kNotApplied);
  EXPECT_TRUE(waiting->has_value());
}

TEST_F(GateTest, CommitsOfOneTokenRunSideBySide) {
  Permit one = inside(33);
  Permit two = inside(33);
  EXPECT_EQ(gate_.view(key())->inside, 2U);
}

TEST_F(GateTest, AnUnknownOutcomeKeepsNewerTokensOutUntilItIsResolved) {
  Permit old = inside(33);
  old.settle(Settlement::kInDoubt);
  Ticket newer = *admit(34);
  ledger_.answer();
  EXPECT_EQ(gate_.try_enter(newer)->error().kind, ErrorKind::kDraining);
  EXPECT_EQ(admit(33).error().kind, ErrorKind::kStaleToken);
  EXPECT_FALSE(gate_.resolve(key(), Token::of(34)));
  EXPECT_TRUE(gate_.resolve(key(), Token::of(33)));
  EXPECT_TRUE(gate_.try_enter(newer)->has_value());
}

TEST_F(GateTest, AWaiterIsToldWhenTheOlderCommitEndsInDoubt) {
  Permit old = inside(33);
  Ticket newer = *admit(34);
  ledger_.answer();
  const Slot waiting = enter(newer);
  old.settle(Settlement::kInDoubt);
  ASSERT_TRUE(waiting->has_value());
  EXPECT_EQ((*waiting)->error().kind, ErrorKind::kDraining);
}

// Model d1, mutant CANCEL: who drops a permit does not know the outcome.
TEST_F(GateTest, APermitThatIsDroppedUnsettledIsInDoubt) {
  { const Permit lost = inside(33); }
  Ticket newer = *admit(34);
  ledger_.answer();
  EXPECT_EQ(gate_.try_enter(newer)->error().kind, ErrorKind::kDraining);
  EXPECT_EQ(gate_.view(key())->unsettled, std::vector{Token::of(33)});
}

TEST_F(GateTest, AnUnsettledTokenDoesNotHinderItsOwnHolder) {
  { const Permit lost = inside(33); }
  Ticket same = *admit(33);
  EXPECT_TRUE(gate_.try_enter(same)->has_value());
}

TEST_F(GateTest, AFailedRaiseIs503AndNeverAPass) {
  Ticket ticket = *admit(34);
  const Slot waiting = enter(ticket);
  ledger_.refuse();
  ASSERT_TRUE(waiting->has_value());
  EXPECT_EQ((*waiting)->error().kind, ErrorKind::kLedgerUnavailable);
  EXPECT_EQ(admit(33).error().kind, ErrorKind::kStaleToken) << "the mark went down";
  Ticket again = *admit(34);
  EXPECT_FALSE(gate_.try_enter(again).has_value()) << "passed on a mark that is not durable";
  ASSERT_EQ(ledger_.waiting(), 1U) << "the raise was not tried again";
  ledger_.answer();
  EXPECT_TRUE(gate_.try_enter(again)->has_value());
}

TEST_F(GateTest, ARaiseThatFailedDuringStagingIsTriedOnceMoreAtEnter) {
  Ticket ticket = *admit(34);
  ledger_.refuse();
  const Slot waiting = enter(ticket);
  ASSERT_EQ(ledger_.waiting(), 1U);
  ledger_.answer();
  ASSERT_TRUE(waiting->has_value());
  EXPECT_TRUE((*waiting)->has_value());
}

TEST_F(GateTest, ATokenAnnouncedDuringARaiseGetsARaiseOfItsOwn) {
  Ticket first = *admit(34);
  Ticket second = *admit(40);
  const Slot waiting = enter(second);
  ledger_.answer();
  EXPECT_FALSE(waiting->has_value()) << "entered on the raise of a lower token";
  ASSERT_EQ(ledger_.waiting(), 1U);
  ledger_.answer();
  EXPECT_TRUE(waiting->has_value() && (*waiting)->has_value());
  EXPECT_EQ(ledger_.marks["exports/acme"].token, Token::of(40));
}

TEST_F(GateTest, AnAbandonedWaitSaysWhatItWaitedFor) {
  Ticket unsure = *admit(34);
  const Slot ledger_wait = enter(unsure);
  gate_.abandon(unsure);
  EXPECT_EQ((*ledger_wait)->error().kind, ErrorKind::kLedgerUnavailable);
  ledger_.answer();

  Permit old = inside(34);
  Ticket newer = *admit(35);
  ledger_.answer();
  const Slot drain_wait = enter(newer);
  gate_.abandon(newer);
  EXPECT_EQ((*drain_wait)->error().kind, ErrorKind::kDraining);
  gate_.abandon(newer);  // a second time does nothing
  old.settle(Settlement::kApplied);
  EXPECT_TRUE(gate_.try_enter(newer)->has_value());
}

TEST_F(GateTest, ADestroyedTicketForgetsItsWait) {
  Permit old = inside(33);
  Slot waiting;
  {
    Ticket newer = *admit(34);
    ledger_.answer();
    waiting = enter(newer);
  }
  old.settle(Settlement::kApplied);
  EXPECT_FALSE(waiting->has_value());
  EXPECT_EQ(gate_.view(key())->inside, 0U);
}

TEST_F(GateTest, TheFirstHolderIsBoundToItsToken) {
  Ticket first = *admit(34, "worker-a");
  ledger_.answer();
  EXPECT_EQ(admit(34, "worker-b").error().kind, ErrorKind::kHolderConflict);
  EXPECT_TRUE(admit(34, "worker-a").has_value());
  EXPECT_TRUE(admit(34).has_value());
  EXPECT_TRUE(admit(35, "worker-b").has_value());
}

TEST_F(GateTest, AHolderMayBeBoundLaterAndThatIsDurableToo) {
  Ticket nobody = *admit(34);
  ledger_.answer();
  Ticket named = *admit(34, "worker-a");
  EXPECT_FALSE(named.took_over());
  EXPECT_FALSE(gate_.try_enter(named).has_value());
  ledger_.answer();
  EXPECT_TRUE(gate_.try_enter(named)->has_value());
  EXPECT_EQ(ledger_.marks["exports/acme"].holder, "worker-a");
}

TEST_F(GateTest, ATokenTooFarAheadNeverRaisesTheMark) {
  Ticket near = *admit(10, "", 10);
  ledger_.answer();
  EXPECT_EQ(admit(21, "", 10).error().kind, ErrorKind::kTokenTooFarAhead);
  EXPECT_EQ(gate_.highest(key()), Token::of(10));
  EXPECT_TRUE(admit(20, "", 10).has_value());
}

TEST_F(GateTest, AnUnreadableMarkIsNotTakenAsZero) {
  ledger_.answer_finds = false;
  std::optional<Result<Ticket>> outcome;
  gate_.admit(key(), Claim{Token::of(1), "", 0}, Announce::kYes,
              [&outcome](Result<Ticket> answer) { outcome = std::move(answer); });
  EXPECT_FALSE(outcome.has_value());
  ledger_.refuse();
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->error().kind, ErrorKind::kLedgerUnavailable);
  EXPECT_EQ(gate_.cached_keys(), 0U);
}

TEST_F(GateTest, OneFindServesAllThatWaitForIt) {
  ledger_.answer_finds = false;
  ledger_.marks["exports/acme"] = Mark{Token::of(34), ""};
  std::vector<Result<Ticket>> answers;
  for (const std::int64_t token : {33, 34, 35}) {
    gate_.admit(key(), Claim{Token::of(token), "", 0}, Announce::kYes,
                [&answers](Result<Ticket> answer) { answers.push_back(std::move(answer)); });
  }
  EXPECT_EQ(ledger_.waiting(), 1U);
  ledger_.answer();
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[0].error().kind, ErrorKind::kStaleToken);
  EXPECT_TRUE(answers[1].has_value());
  EXPECT_TRUE(answers[2].has_value());
}

TEST_F(GateTest, ADecisionWithoutAnnouncingRaisesNothing) {
  EXPECT_FALSE(gate_.try_admit(key(), Claim{Token::of(9), "", 0}, Announce::kNo).has_value());
  std::optional<Result<Ticket>> outcome;
  gate_.admit(key(), Claim{Token::of(9), "", 0}, Announce::kNo,
              [&outcome](Result<Ticket> answer) { outcome = std::move(answer); });
  EXPECT_TRUE(outcome->has_value());
  EXPECT_EQ(ledger_.waiting(), 0U);
  EXPECT_EQ(gate_.highest(key()), Token());
}

TEST(GateMemoryTest, IdleKeysAreForgottenAndFoundAgainInTheLedger) {
  testing::ManualLedger ledger;
  Gate gate(ledger, GateOptions{64});  // the floor: 16 keys in each of 64 shards
  const auto touch = [&](int i, std::int64_t token) {
    std::optional<Result<Ticket>> outcome;
    gate.admit(key("k/" + std::to_string(i)), Claim{Token::of(token), "", 0}, Announce::kYes,
               [&outcome](Result<Ticket> answer) { outcome = std::move(answer); });
    while (ledger.waiting() > 0) {
      ledger.answer();
    }
    return std::move(*outcome);
  };
  constexpr int kKeys = 5000;
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_TRUE(touch(i, 7).has_value());
  }
  EXPECT_LE(gate.cached_keys(), 64U * 16U);
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_EQ(touch(i, 6).error().kind, ErrorKind::kStaleToken) << i;
  }
}

TEST(GateMemoryTest, AKeyWithACommitInDoubtIsNeverForgotten) {
  testing::ManualLedger ledger;
  Gate gate(ledger, GateOptions{64});
  const auto admit = [&](const std::string& name, std::int64_t token) {
    std::optional<Result<Ticket>> outcome;
    gate.admit(key(name), Claim{Token::of(token), "", 0}, Announce::kYes,
               [&outcome](Result<Ticket> answer) { outcome = std::move(answer); });
    while (ledger.waiting() > 0) {
      ledger.answer();
    }
    return std::move(**outcome);
  };
  {
    Ticket ticket = admit("doubtful", 33);
    (*gate.try_enter(ticket))->settle(Settlement::kInDoubt);
  }
  for (int i = 0; i < 5000; ++i) {
    admit("k/" + std::to_string(i), 7);
  }
  Ticket newer = admit("doubtful", 34);
  const std::optional<Result<Permit>> entered = gate.try_enter(newer);
  ASSERT_TRUE(entered.has_value());
  ASSERT_FALSE(entered->has_value()) << "the doubt was forgotten with the key";
  EXPECT_EQ(entered->error().kind, ErrorKind::kDraining);
}

TEST(GateMemoryTest, KeysInUseAreNeverForgotten) {
  testing::ManualLedger ledger;
  Gate gate(ledger, GateOptions{64});
  std::vector<Ticket> held;
  bool refused = false;
  for (int i = 0; i < 5000 && !refused; ++i) {
    gate.admit(key("k/" + std::to_string(i)), Claim{Token::of(1), "", 0}, Announce::kYes,
               [&](Result<Ticket> answer) {
                 if (answer) {
                   held.push_back(std::move(*answer));
                 } else {
                   EXPECT_EQ(answer.error().kind, ErrorKind::kOverloaded);
                   refused = true;
                 }
               });
  }
  EXPECT_TRUE(refused);
  while (ledger.waiting() > 0) {
    ledger.answer();
  }
  for (Ticket& ticket : held) {
    EXPECT_TRUE(gate.try_enter(ticket)->has_value());
  }
}

}  // namespace
}  // namespace fenceline::fencing
