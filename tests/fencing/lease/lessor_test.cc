// One lease after the other: grant, renew, release, expiry, retry (facts/ledger.md, 6).

#include "fencing/lease/lessor.h"

#include <gtest/gtest.h>

#include "tests/fencing/lease/lessor_fixture.h"

namespace fenceline::testing {
namespace {

using namespace std::chrono_literals;

TEST_F(LessorTest, AFreeKeyIsGrantedWithATokenAndItsWholeTtl) {
  const auto answer = acquire("a", "w1", "r1");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value().lease.token, base::Token::of(1));
  EXPECT_EQ(answer.value().lease.id.size(), 32U);
  EXPECT_EQ(answer.value().lease.holder, "w1");
  EXPECT_EQ(answer.value().left, 10s);
  EXPECT_EQ(find_now(*ledger_, "a").value(), mark_of(1, "w1"));
}

TEST_F(LessorTest, AHeldKeyIsRefusedWithItsHolderAndForHowLong) {
  acquire("a", "w1", "r1");
  clock_.advance(2500ms);
  const auto other = acquire("a", "w2", "r2");
  ASSERT_EQ(other.kind(), ErrorKind::kLeaseHeld);
  EXPECT_NE(other.error().detail.find("held by w1"), std::string::npos) << other.error().detail;
  EXPECT_EQ(other.error().retry_after_s, 8U);
  const auto again = acquire("a", "w1", "r3");
  ASSERT_EQ(again.kind(), ErrorKind::kLeaseHeld);
  EXPECT_NE(again.error().detail.find("not reentrant"), std::string::npos);
}

TEST_F(LessorTest, ALeaseIsValidUntilItsDeadlineAndExpiredAtIt) {
  const auto lease = acquire("a", "w1", "r1").value().lease;
  pass(9999ms);
  EXPECT_EQ(acquire("a", "w2", "r2").kind(), ErrorKind::kLeaseHeld);
  EXPECT_EQ(lessor_->show(key_of("a"))->held->left, 1ms);
  clock_.advance(1ms);
  // Nobody has called run_due: whoever asks sees the time himself.
  EXPECT_EQ(renew(lease).kind(), ErrorKind::kLeaseEnded) << "renew and expiry in the same tick";
  const auto next = acquire("a", "w2", "r2");
  ASSERT_TRUE(next.ok());
  EXPECT_GT(next.value().lease.token, lease.token);
  EXPECT_EQ(events_, (std::vector<std::string>{"granted r1", "expired r1", "granted r2"}));
}

TEST_F(LessorTest, ARenewalGivesAWholeTtlFromNow) {
  const auto lease = acquire("a", "w1", "r1").value().lease;
  pass(9s);
  const auto renewed = renew(lease);
  ASSERT_TRUE(renewed.ok());
  EXPECT_EQ(renewed.value().left, 10s);
  pass(9999ms);
  EXPECT_TRUE(lessor_->show(key_of("a"))->held);
  pass(1ms);
  EXPECT_FALSE(lessor_->show(key_of("a")));
}

TEST_F(LessorTest, ARenewalAfterExpiryIsRefusedAlthoughTheKeyIsFree) {
  const auto lease = acquire("a", "w1", "r1").value().lease;
  pass(10s);
  EXPECT_EQ(renew(lease).kind(), ErrorKind::kLeaseEnded);
  EXPECT_FALSE(lessor_->show(key_of("a"))) << "it is free";
}

TEST_F(LessorTest, ARenewalNeverShortens) {
  const auto lease = acquire("a", "w1", "r1").value().lease;
  const auto renewed = renew(lease, 2s);
  ASSERT_TRUE(renewed.ok());
  EXPECT_EQ(renewed.value().left, 10s);
  EXPECT_EQ(renewed.value().lease.ttl, 2s);
  open();
  EXPECT_EQ(lessor_->show(key_of("a"))->held->left, 10s) << "nor does a restart";
}

TEST_F(LessorTest, ARenewalTakesALargerTtlAndKeepsIt) {
  const auto lease = acquire("a", "w1", "r1").value().lease;
  ASSERT_TRUE(renew(lease, 60s).ok());
  pass(59s);
  EXPECT_TRUE(renew(lease).ok());
  pass(59s);
  EXPECT_TRUE(lessor_->show(key_of("a"))->held);
  open();
  EXPECT_EQ(lessor_->show(key_of("a"))->held->left, 60s);
}

TEST_F(LessorTest, ALostAnswerToARenewalIsHarmless) {
  const auto lease = acquire("a", "w1", "r1").value().lease;
  pass(5s);
  renew(lease);
  EXPECT_EQ(renew(lease).value().left, 10s) << "as if it had been asked once";
}

TEST_F(LessorTest, AReleaseByAStrangerChangesNothing) {
  const auto lease = acquire("a", "w1", "r1").value().lease;
  EXPECT_EQ(release("a", std::string(32, 'f')).kind(), ErrorKind::kLeaseEnded);
  EXPECT_EQ(release("b", lease.id).kind(), ErrorKind::kLeaseEnded) << "another key";
  EXPECT_TRUE(lessor_->show(key_of("a"))->held);
}

TEST_F(LessorTest, ALateAndASecondReleaseAreHarmlessToTheSuccessor) {
  const auto first = acquire("a", "w1", "r1").value().lease;
  EXPECT_TRUE(release(first).ok());
  EXPECT_EQ(release(first).kind(), ErrorKind::kLeaseEnded) << "released twice";
  const auto second = acquire("a", "w2", "r2").value().lease;
  EXPECT_EQ(release(first).kind(), ErrorKind::kLeaseEnded);
  EXPECT_EQ(renew(first).kind(), ErrorKind::kLeaseEnded);
  EXPECT_EQ(lessor_->show(key_of("a"))->held->lease, second);
}

TEST_F(LessorTest, ARetryGetsTheSameLeaseAndNoMoreTime) {
  const auto first = acquire("a", "w1", "r1").value();
  pass(4s);
  const auto again = acquire("a", "w1", "r1").value();
  EXPECT_EQ(again.lease, first.lease);
  EXPECT_EQ(again.left, 6s);
  EXPECT_EQ(acquire("b", "w1", "r1").kind(), ErrorKind::kMalformedRequest) << "for other keys";
}

TEST_F(LessorTest, ARetryAfterTheEndIsRefusedForATtl) {
  release(acquire("a", "w1", "r1").value().lease);
  EXPECT_EQ(acquire("a", "w1", "r1").kind(), ErrorKind::kLeaseEnded);
  pass(9999ms);
  EXPECT_EQ(acquire("a", "w1", "r1").kind(), ErrorKind::kLeaseEnded);
  EXPECT_TRUE(acquire("a", "w2", "r1").ok()) << "the request id of another holder";
  pass(10s);
  EXPECT_EQ(acquire("a", "w2", "r1").kind(), ErrorKind::kLeaseEnded) << "expired";
}

TEST_F(LessorTest, ARetryOverARestartGetsTheSameLeaseWithItsWholeTtl) {
  const auto first = acquire("a", "w1", "r1").value();
  pass(9s);
  open();
  const auto again = acquire("a", "w1", "r1").value();
  EXPECT_EQ(again.lease, first.lease);
  EXPECT_EQ(again.left, 10s);
  EXPECT_TRUE(renew(first.lease).ok());
}

TEST_F(LessorTest, TokensAreGlobalAndSurviveTheEndOfTheirKey) {
  const auto a = acquire("a", "w1", "r1").value().lease;
  const auto b = acquire("b", "w1", "r2").value().lease;
  EXPECT_GT(b.token, a.token);
  release(a);
  open();
  EXPECT_GT(acquire("a", "w1", "r3").value().lease.token, b.token);
}

TEST_F(LessorTest, ATokenIsAboveEveryOneThatTheGateHasSeen) {
  enter("a", 1000)->settle(fencing::Settlement::kApplied);
  EXPECT_EQ(acquire("a", "w1", "r1").value().lease.token, base::Token::of(1001));
  EXPECT_FALSE(enter("a", 1000)) << "the older writer is fenced at takeover";
  EXPECT_TRUE(enter("a", 1001)->inside());
}

TEST_F(LessorTest, ATtlOutsideTheLimitsIsRefusedAndTold) {
  for (const Milliseconds ttl : {0ms, -1ms, 999ms, 86'400'001ms, Milliseconds::max()}) {
    auto order = order_for("a", "w1", "r1");
    order.ttl = ttl;
    const auto answer = acquire(order);
    ASSERT_EQ(answer.kind(), ErrorKind::kMalformedRequest) << ttl.count();
    EXPECT_NE(answer.error().detail.find("1000 to 86400000 ms"), std::string::npos);
  }
  const auto lease = acquire("a", "w1", "r1").value().lease;
  EXPECT_EQ(renew(lease, 0ms).kind(), ErrorKind::kMalformedRequest);
}

TEST_F(LessorTest, TheTimerIsToldWhatIsDueNext) {
  EXPECT_EQ(lessor_->run_due(), std::nullopt);
  acquire("a", "w1", "r1");
  EXPECT_EQ(due_sooner_, 1);
  EXPECT_EQ(lessor_->run_due(), clock_.now() + 10s);
  auto order = order_for("b", "w1", "r2");
  order.ttl = 60s;
  acquire(order);
  EXPECT_EQ(due_sooner_, 1) << "that is later";
  pass(10s);
  EXPECT_EQ(lessor_->run_due(), clock_.now() + 50s);
}

}  // namespace
}  // namespace fenceline::testing
