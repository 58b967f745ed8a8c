// What a grant and a revoke do at the gate: older writes leave before anybody is answered.

#include <gtest/gtest.h>

#include "tests/fencing/lease/lessor_fixture.h"

namespace fenceline::testing {
namespace {

using namespace std::chrono_literals;
using base::Token;
using fencing::Settlement;

TEST_F(LessorTest, AGrantIsAnsweredWhenTheOlderWriteHasLeft) {
  auto older = enter("a", 7);
  const auto answer = acquire("a", "w1", "r1");
  EXPECT_FALSE(answer.there()) << "an older write is inside";
  EXPECT_FALSE(enter("a", 7)) << "and no other is let in";
  EXPECT_FALSE(lessor_->show(key_of("a"))->held);
  older->settle(Settlement::kApplied);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().lease.token, Token::of(8));
}

TEST_F(LessorTest, TheTtlBeginsWhenTheGrantIsAnswered) {
  auto older = enter("a", 7);
  const auto answer = acquire("a", "w1", "r1");
  pass(9s);
  older->settle(Settlement::kApplied);
  EXPECT_EQ(answer.value().left, 10s);
  pass(9999ms);
  EXPECT_TRUE(lessor_->show(key_of("a"))->held);
}

TEST_F(LessorTest, TheZombieIsRefusedAfterTheGrantAndTheHolderPasses) {
  enter("a", 7)->settle(Settlement::kApplied);
  const auto lease = acquire("a", "w1", "r1").value().lease;
  EXPECT_FALSE(enter("a", 7));
  auto own = enter("a", lease.token.value());
  ASSERT_TRUE(own);
  own->settle(Settlement::kApplied);
}

TEST_F(LessorTest, EveryKeyOfTheLeaseIsDrained) {
  auto older = enter("b", 7);
  auto order = order_for("a", "w1", "r1");
  order.keys.push_back(key_of("b"));
  const auto answer = acquire(order);
  EXPECT_FALSE(answer.there());
  EXPECT_FALSE(enter("a", 7)) << "the other key is fenced meanwhile";
  older->settle(Settlement::kApplied);
  EXPECT_TRUE(answer.ok());
}

TEST_F(LessorTest, AGrantThatDoesNotDrainInTimeIsGivenUpAndItsMarkStays) {
  auto older = enter("a", 7);
  const auto answer = acquire("a", "w1", "r1");
  const auto waiting = acquire("a", "w2", "r2", 60s);
  pass(9999ms);
  EXPECT_FALSE(answer.there());
  pass(1ms);
  EXPECT_EQ(answer.kind(), ErrorKind::kDraining);
  EXPECT_FALSE(waiting.there()) << "the next in line is draining";
  older->settle(Settlement::kApplied);
  ASSERT_TRUE(waiting.ok());
  EXPECT_EQ(waiting.value().lease.token, Token::of(9));
  release(waiting.value().lease);
  EXPECT_TRUE(acquire("a", "w1", "r1").ok()) << "the request id may try again";
  open();
  EXPECT_EQ(lessor_->counts().held, 1U) << "nothing else is left in the ledger";
}

TEST_F(LessorTest, AnOlderWriteInDoubtRefusesTheGrant) {
  enter("a", 7)->settle(Settlement::kInDoubt);
  EXPECT_EQ(acquire("a", "w1", "r1").kind(), ErrorKind::kDraining);
  EXPECT_FALSE(lessor_->show(key_of("a")));
  EXPECT_TRUE(gate_->resolve(key_of("a"), Token::of(7)));
  EXPECT_TRUE(acquire("a", "w1", "r2").ok());
}

TEST_F(LessorTest, AGrantThatIsGivenBackIsFreeAndMayBeTakenAfresh) {
  const auto lease = acquire("a", "w1", "r1", {}, 60s).value().lease;
  const auto next = acquire("a", "w2", "r2", 60s);
  lessor_->give_back(key_of("a"), "of-somebody-else");
  EXPECT_FALSE(next.there());
  lessor_->give_back(key_of("a"), lease.id);
  ASSERT_TRUE(next.ok()) << "no lock-delay";
  EXPECT_FALSE(enter("a", lease.token.value())) << "the marks stay raised";
  EXPECT_EQ(lessor_->confirm(key_of("a"), lease.id).error().kind, ErrorKind::kDraining);
  release(next.value().lease);
  const auto again = acquire("a", "w1", "r1");
  ASSERT_TRUE(again.ok()) << "the same request id";
  EXPECT_FALSE(again.value().repeated);
  EXPECT_GT(again.value().lease.token, next.value().lease.token);
  open();
  EXPECT_EQ(lessor_->counts().held, 1U) << "nothing else is left in the ledger";
}

TEST_F(LessorTest, WhatARepetitionHasConfirmedIsNotGivenBack) {
  const auto lease = acquire("a", "w1", "r1").value().lease;
  pass(4s);
  ASSERT_TRUE(acquire("a", "w1", "r1").value().repeated);
  const auto confirmed = lessor_->confirm(key_of("a"), lease.id);
  ASSERT_TRUE(confirmed.has_value());
  EXPECT_EQ(confirmed->lease.id, lease.id);
  EXPECT_EQ(confirmed->left, 6s) << "not extended";
  lessor_->give_back(key_of("a"), lease.id);
  EXPECT_TRUE(lessor_->show(key_of("a"))->held);
  EXPECT_TRUE(release(lease).ok());
}

TEST_F(LessorTest, AHigherTokenThatComesMeanwhileIsOvertaken) {
  auto older = enter("a", 7);
  const auto answer = acquire("a", "w1", "r1");
  // Somebody with another source presents a higher one; it waits for the drain too.
  std::optional<fencing::Ticket> ticket;
  gate_->admit(key_of("a"), fencing::Claim{Token::of(50), {}, 0}, fencing::Announce::kYes,
               [&ticket](auto admitted) { ticket = std::move(*admitted); });
  EXPECT_FALSE(answer.there());
  older->settle(Settlement::kApplied);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().lease.token, Token::of(51));
  EXPECT_FALSE(enter("a", 50));
}

TEST_F(LessorTest, ACancelledGrantIsReleasedWhenItHasDrained) {
  auto older = enter("a", 7);
  const auto answer = acquire("a", "w1", "r1");
  lessor_->cancel(attempt_);
  EXPECT_EQ(answer.kind(), ErrorKind::kClientGone);
  older->settle(Settlement::kApplied);
  EXPECT_FALSE(lessor_->show(key_of("a")));
  EXPECT_TRUE(acquire("a", "w1", "r1").ok()) << "a retry takes it afresh";
}

TEST_F(LessorTest, ARetryDuringTheGrantGetsItsLease) {
  auto older = enter("a", 7);
  const auto first = acquire("a", "w1", "r1");
  const auto again = acquire("a", "w1", "r1");
  EXPECT_EQ(first.kind(), ErrorKind::kLeaseHeld);
  lessor_->cancel(attempt_ - 1);
  older->settle(Settlement::kApplied);
  EXPECT_TRUE(again.ok());
}

TEST_F(LessorTest, ACrashDuringTheDrainLeavesTheLeaseToItsRetry) {
  auto older = enter("a", 7);
  const auto lost = acquire("a", "w1", "r1");
  lessor_->close();
  EXPECT_EQ(lost.kind(), ErrorKind::kShuttingDown);
  older->settle(Settlement::kApplied);
  older.reset();
  open();
  const auto again = acquire("a", "w1", "r1");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again.value().lease.token, Token::of(8)) << "the token that was committed";
}

TEST_F(LessorTest, ARevokeFencesAtOnceAndHasItsLockDelay) {
  const auto lease = acquire("a", "w1", "r1", 0s, 5s).value().lease;
  const auto revoked = revoke("a");
  ASSERT_TRUE(revoked.ok());
  EXPECT_EQ(revoked.value().lease, lease);
  EXPECT_EQ(revoked.value().token, Token::of(2));
  EXPECT_FALSE(enter("a", lease.token.value())) << "although nobody followed";
  EXPECT_EQ(renew(lease).kind(), ErrorKind::kLeaseEnded);
  EXPECT_EQ(release(lease).kind(), ErrorKind::kLeaseEnded);
  EXPECT_EQ(acquire("a", "w1", "r1").kind(), ErrorKind::kLeaseEnded);
  EXPECT_EQ(acquire("a", "w2", "r2").kind(), ErrorKind::kLeaseHeld);
  open();
  EXPECT_EQ(lessor_->show(key_of("a"))->lock_delay_left, 5s);
  pass(5s);
  EXPECT_EQ(acquire("a", "w2", "r2").value().lease.token, Token::of(3));
  EXPECT_EQ(events_.at(1), "revoked r1");
}

TEST_F(LessorTest, ARevokeIsAnsweredWhenTheHoldersWriteHasLeft) {
  const auto lease = acquire("a", "w1", "r1").value().lease;
  auto inside = enter("a", lease.token.value());
  const auto waiting = acquire("a", "w2", "r2", 60s);
  const auto revoked = revoke("a");
  EXPECT_FALSE(revoked.there());
  EXPECT_EQ(renew(lease).kind(), ErrorKind::kLeaseEnded) << "it has ended already";
  EXPECT_EQ(revoke("a").kind(), ErrorKind::kDraining);
  inside->settle(Settlement::kApplied);
  EXPECT_TRUE(revoked.ok());
  EXPECT_TRUE(waiting.ok());
}

TEST_F(LessorTest, ARevokeThatDoesNotDrainSaysSoAndHasEndedTheLease) {
  const auto lease = acquire("a", "w1", "r1").value().lease;
  auto inside = enter("a", lease.token.value());
  const auto revoked = revoke("a");
  pass(10s);
  EXPECT_EQ(revoked.kind(), ErrorKind::kDraining);
  EXPECT_FALSE(lessor_->show(key_of("a")));
  inside->settle(Settlement::kApplied);
}

TEST_F(LessorTest, NobodyHoldsWhatIsFreeOrJustBeingGranted) {
  EXPECT_EQ(revoke("a").kind(), ErrorKind::kNotFound);
  auto older = enter("a", 7);
  acquire("a", "w1", "r1");
  EXPECT_EQ(revoke("a").kind(), ErrorKind::kNotFound);
  older->settle(Settlement::kApplied);
  EXPECT_TRUE(revoke("a").ok());
}

TEST_F(LessorTest, TokensAtTheirEndGrantNothing) {
  enter("a", Token::kMax)->settle(Settlement::kApplied);
  EXPECT_EQ(acquire("a", "w1", "r1").kind(), ErrorKind::kConstraintFailed);
  EXPECT_FALSE(lessor_->show(key_of("a")));
  EXPECT_TRUE(acquire("b", "w1", "r2").ok());
}

}  // namespace
}  // namespace fenceline::testing
