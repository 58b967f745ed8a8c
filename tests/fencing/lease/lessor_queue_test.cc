// Who waits, and in which order; lock-delays; several keys (facts/ledger.md, 6).

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fencing/lease/lessor_fixture.h"

namespace fenceline::testing {
namespace {

using namespace std::chrono_literals;
using fencing::LeaseLimits;

fencing::AcquireOrder order_for_keys(const std::vector<std::string>& keys,
                                     const std::string& request_id, Milliseconds wait = {}) {
  auto order = order_for(keys.front(), "w-" + request_id, request_id, wait);
  for (std::size_t i = 1; i < keys.size(); ++i) {
    order.keys.push_back(key_of(keys[i]));
  }
  return order;
}

TEST_F(LessorTest, WaitersGetTheKeyInTheOrderOfTheirArrival) {
  auto held = acquire("a", "w0", "r0").value().lease;
  std::vector<LeaseAnswer> waiting;
  for (int i = 1; i <= 5; ++i) {
    waiting.push_back(acquire("a", "w" + std::to_string(i), "r" + std::to_string(i), 60s));
  }
  EXPECT_EQ(lessor_->show(key_of("a"))->waiting, 5U);
  for (const LeaseAnswer& next : waiting) {
    EXPECT_FALSE(next.there());
    EXPECT_TRUE(release(held).ok());
    ASSERT_TRUE(next.ok());
    EXPECT_GT(next.value().lease.token, held.token);
    EXPECT_EQ(next.value().left, 10s) << "its own whole ttl";
    held = next.value().lease;
  }
}

TEST_F(LessorTest, NobodyPassesThoseWhoWait) {
  const auto held = acquire("a", "w0", "r0").value().lease;
  const auto waiting = acquire("a", "w1", "r1", 60s);
  release(held);
  EXPECT_TRUE(waiting.ok());
  EXPECT_EQ(acquire("a", "w2", "r2").kind(), ErrorKind::kLeaseHeld);
}

TEST_F(LessorTest, ARetryOfAWaiterKeepsItsPlaceAndTheOlderCallIsAnswered) {
  const auto held = acquire("a", "w0", "r0").value().lease;
  const auto first = acquire("a", "w1", "r1", 10s);
  const auto second = acquire("a", "w2", "r2", 60s);
  pass(9s);
  const auto again = acquire("a", "w1", "r1", 10s);
  EXPECT_EQ(first.kind(), ErrorKind::kLeaseHeld);
  EXPECT_FALSE(again.there());
  pass(500ms);
  release(held);
  EXPECT_TRUE(again.ok());
  EXPECT_FALSE(second.there());
  pass(10s);
  EXPECT_TRUE(second.ok());
}

TEST_F(LessorTest, ARetryThatDoesNotWaitLeavesTheLine) {
  acquire("a", "w0", "r0");
  const auto first = acquire("a", "w1", "r1", 10s);
  const auto again = acquire("a", "w1", "r1");
  EXPECT_EQ(first.kind(), ErrorKind::kLeaseHeld);
  EXPECT_EQ(again.kind(), ErrorKind::kLeaseHeld);
  EXPECT_EQ(lessor_->show(key_of("a"))->waiting, 0U);
}

TEST_F(LessorTest, AWaitThatIsOverIsAnsweredAndSkipped) {
  const auto held = acquire("a", "w0", "r0").value().lease;
  const auto early = acquire("a", "w1", "r1", 2s);
  const auto late = acquire("a", "w2", "r2", 60s);
  pass(1999ms);
  EXPECT_FALSE(early.there());
  pass(1ms);
  ASSERT_EQ(early.kind(), ErrorKind::kLeaseHeld);
  EXPECT_EQ(early.error().retry_after_s, 8U);
  release(held);
  EXPECT_TRUE(late.ok());
}

TEST_F(LessorTest, ACancelledWaiterIsSkippedAndAnswered) {
  const auto held = acquire("a", "w0", "r0").value().lease;
  const auto gone = acquire("a", "w1", "r1", 60s);
  const auto attempt = attempt_;
  const auto next = acquire("a", "w2", "r2", 60s);
  lessor_->cancel(attempt);
  lessor_->cancel(attempt);
  EXPECT_EQ(gone.kind(), ErrorKind::kClientGone);
  release(held);
  EXPECT_TRUE(next.ok());
  EXPECT_EQ(lessor_->counts().waiting, 0U);
}

TEST_F(LessorTest, CancelAfterTheAnswerDoesNothing) {
  acquire("a", "w0", "r0");
  lessor_->cancel(attempt_);
  EXPECT_TRUE(lessor_->show(key_of("a"))->held);
}

TEST_F(LessorTest, AWaitThatEndsAtTheInstantOfTheExpiryGetsTheKey) {
  acquire("a", "w0", "r0");
  const auto waiting = acquire("a", "w1", "r1", 10s);
  pass(10s);
  EXPECT_TRUE(waiting.ok());
}

TEST_F(LessorTest, AWaitThatEndedBeforeTheExpiryDoesNotGetTheKeyHoweverLateItIsNoticed) {
  acquire("a", "w0", "r0");
  const auto waiting = acquire("a", "w1", "r1", 9s);
  pass(30s);
  EXPECT_EQ(waiting.kind(), ErrorKind::kLeaseHeld);
}

TEST_F(LessorTest, ExpiryHandsOverWithTheWaitersTtl) {
  acquire("a", "w0", "r0");
  auto order = order_for("a", "w1", "r1", 60s);
  order.ttl = 3s;
  const auto waiting = acquire(order);
  pass(10s);
  ASSERT_TRUE(waiting.ok());
  EXPECT_EQ(waiting.value().left, 3s);
  pass(3s);
  EXPECT_FALSE(lessor_->show(key_of("a")));
}

TEST_F(LessorTest, ALockDelayFollowsAnExpiryButNotARelease) {
  release(acquire("a", "w0", "r0", 0s, 5s).value().lease);
  const auto lease = acquire("a", "w1", "r1", 0s, 5s).value().lease;
  pass(10s);
  const auto refused = acquire("a", "w2", "r2");
  ASSERT_EQ(refused.kind(), ErrorKind::kLeaseHeld);
  EXPECT_NE(refused.error().detail.find("lock-delay"), std::string::npos);
  EXPECT_EQ(refused.error().retry_after_s, 5U);
  EXPECT_EQ(renew(lease).kind(), ErrorKind::kLeaseEnded) << "in the lock-delay";
  EXPECT_EQ(acquire("a", "w1", "r9").kind(), ErrorKind::kLeaseHeld) << "not the old holder either";
  EXPECT_EQ(lessor_->show(key_of("a"))->lock_delay_left, 5s);
  const auto waiting = acquire("a", "w3", "r3", 60s);
  pass(4999ms);
  EXPECT_FALSE(waiting.there());
  pass(1ms);
  EXPECT_TRUE(waiting.ok());
}

TEST_F(LessorTest, ALockDelayOutlivesARestartWithItsWholeLength) {
  acquire("a", "w0", "r0", 0s, 5s);
  pass(10s);
  pass(4s);
  open();
  EXPECT_EQ(lessor_->show(key_of("a"))->lock_delay_left, 5s);
  pass(4999ms);
  EXPECT_EQ(acquire("a", "w1", "r1").kind(), ErrorKind::kLeaseHeld);
  pass(1ms);
  EXPECT_TRUE(acquire("a", "w1", "r1").ok());
  open();
  EXPECT_EQ(lessor_->show(key_of("a"))->lock_delay_left, 0s) << "it is over in the ledger too";
}

TEST_F(LessorTest, TheQueueIsLostWithARestartAndIsJoinedAgain) {
  const auto held = acquire("a", "w0", "r0").value().lease;
  const auto waiting = acquire("a", "w1", "r1", 60s);
  open();
  EXPECT_EQ(waiting.kind(), ErrorKind::kShuttingDown);
  const auto again = acquire("a", "w1", "r1", 60s);
  EXPECT_FALSE(again.there());
  release(held);
  EXPECT_TRUE(again.ok());
}

TEST_F(LessorTest, SeveralKeysAreTakenAllOrNone) {
  const auto b = acquire("b", "w0", "r0").value().lease;
  EXPECT_EQ(acquire(order_for_keys({"c", "b", "a"}, "r1")).kind(), ErrorKind::kLeaseHeld);
  EXPECT_FALSE(lessor_->show(key_of("a")));
  release(b);
  const auto all = acquire(order_for_keys({"c", "b", "a"}, "r2"));
  ASSERT_TRUE(all.ok());
  EXPECT_TRUE(std::ranges::is_sorted(all.value().lease.keys)) << "sorted";
  for (const char* key : {"a", "b", "c"}) {
    EXPECT_EQ(lessor_->show(key_of(key))->held->lease.id, all.value().lease.id);
    EXPECT_EQ(find_now(*ledger_, key).value().token, all.value().lease.token);
  }
  EXPECT_TRUE(release("b", all.value().lease.id).ok()) << "by any of its keys";
  EXPECT_FALSE(lessor_->show(key_of("a")));
}

TEST_F(LessorTest, WhoWaitsForSeveralKeysIsNotPassedOnTheFreeOnes) {
  const auto a = acquire("a", "w0", "r0").value().lease;
  const auto both = acquire(order_for_keys({"a", "b"}, "both", 60s));
  const auto passing = acquire("b", "w2", "r2");
  EXPECT_EQ(passing.kind(), ErrorKind::kLeaseHeld) << "b is free, but asked for";
  EXPECT_NE(passing.error().detail.find("before you in line"), std::string::npos);
  const auto behind = acquire("b", "w3", "r3", 60s);
  release(a);
  ASSERT_TRUE(both.ok());
  EXPECT_FALSE(behind.there());
  release(both.value().lease);
  EXPECT_TRUE(behind.ok());
}

TEST_F(LessorTest, CrossedOrdersDoNotDeadlock) {
  const auto b = acquire("b", "w0", "r0").value().lease;
  const auto first = acquire(order_for_keys({"a", "b"}, "first", 60s));
  const auto second = acquire(order_for_keys({"b", "a"}, "second", 60s));
  release(b);
  ASSERT_TRUE(first.ok());
  release(first.value().lease);
  EXPECT_TRUE(second.ok());
}

TEST_F(LessorTest, TooManyKeysOrOneTwiceAreRefused) {
  EXPECT_EQ(acquire(order_for_keys({"a", "a"}, "r1")).kind(), ErrorKind::kMalformedRequest);
  std::vector<std::string> keys;
  for (std::size_t i = 0; i <= fencing::kMaxLeaseKeys; ++i) {
    keys.push_back("k" + std::to_string(i));
  }
  EXPECT_EQ(acquire(order_for_keys(keys, "r2")).kind(), ErrorKind::kMalformedRequest);
  keys.pop_back();
  EXPECT_TRUE(acquire(order_for_keys(keys, "r3")).ok());
  auto none = order_for("a", "w", "r4");
  none.keys.clear();
  EXPECT_EQ(acquire(none).kind(), ErrorKind::kMalformedRequest);
}

TEST_F(LessorTest, HolderAndRequestIdAreVisibleAscii) {
  for (const char* bad : {"", "a b", "a\nb", "\xC3\xA9"}) {
    EXPECT_EQ(acquire("a", bad, "r1").kind(), ErrorKind::kMalformedRequest);
    EXPECT_EQ(acquire("a", "w1", bad).kind(), ErrorKind::kMalformedRequest);
  }
  EXPECT_EQ(acquire("a", std::string(257, 'w'), "r1").kind(), ErrorKind::kMalformedRequest);
  EXPECT_EQ(acquire("a", "w1", std::string(129, 'r')).kind(), ErrorKind::kMalformedRequest);
  EXPECT_TRUE(acquire("a", std::string(256, 'w'), std::string(128, 'r')).ok());
}

TEST_F(LessorTest, WaitAndLockDelayHaveLimits) {
  EXPECT_EQ(acquire("a", "w1", "r1", 60'001ms).kind(), ErrorKind::kMalformedRequest);
  EXPECT_EQ(acquire("a", "w1", "r1", -1ms).kind(), ErrorKind::kMalformedRequest);
  EXPECT_EQ(acquire("a", "w1", "r1", 0s, 60'001ms).kind(), ErrorKind::kMalformedRequest);
}

TEST_F(LessorTest, LineAndTableAreBounded) {
  LeaseLimits limits;
  limits.max_waiters = 2;
  limits.max_leases = 5;
  lessor_->set_limits(limits);
  acquire("a", "w0", "r0");
  const auto first = acquire("a", "w1", "r1", 60s);
  acquire("a", "w2", "r2", 60s);
  EXPECT_EQ(acquire("a", "w3", "r3", 60s).kind(), ErrorKind::kOverloaded) << "the line";
  EXPECT_EQ(acquire("a", "w4", "r4").kind(), ErrorKind::kLeaseHeld) << "it would not wait";
  acquire("b", "w5", "r5");
  acquire("c", "w6", "r6");
  EXPECT_EQ(acquire("d", "w7", "r7").kind(), ErrorKind::kOverloaded) << "the table";
  pass(10s);
  EXPECT_TRUE(first.ok());
  EXPECT_TRUE(acquire("d", "w7", "r7").ok()) << "there is room again";
}

TEST_F(LessorTest, TenThousandWaitersOnOneKeyAreServedOneAfterTheOther) {
  auto held = acquire("a", "w", "r").value().lease;
  constexpr int kWaiters = 10'000;
  std::vector<LeaseAnswer> answers;
  for (int i = 0; i < kWaiters; ++i) {
    answers.push_back(acquire("a", "w", "r" + std::to_string(i), 60s));
  }
  EXPECT_EQ(acquire("a", "w", "one-more", 60s).kind(), ErrorKind::kOverloaded);
  for (int i = 0; i < kWaiters; ++i) {
    release(held);
    ASSERT_TRUE(answers[static_cast<std::size_t>(i)].ok()) << i;
    held = answers[static_cast<std::size_t>(i)].value().lease;
  }
  EXPECT_EQ(lessor_->counts().waiting, 0U);
}

TEST_F(LessorTest, ListedByKeyFromPageToPage) {
  acquire(order_for_keys({"x/b", "x/d"}, "r1"));
  acquire("x/a", "w2", "r2");
  acquire("x/c", "w3", "r3");
  acquire("y", "w4", "r4");
  acquire("x/c", "w5", "r5", 60s);
  std::vector<std::string> seen;
  std::string after;
  while (true) {
    const auto rows = lessor_->list("x/", after, 2);
    for (const auto& row : rows) {
      seen.push_back(row.key.text() + " " + row.view.lease.request_id);
      after = row.key.text();
    }
    if (rows.size() < 2) {
      break;
    }
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"x/a r2", "x/b r1", "x/c r3", "x/d r1"}));
  EXPECT_EQ(lessor_->list("", "", 100).size(), 5U);
  EXPECT_EQ(lessor_->list("x/c", "", 100).size(), 1U);
  EXPECT_TRUE(lessor_->list("\xFF", "", 100).empty());
  EXPECT_TRUE(lessor_->list("x/", "y", 100).empty());
  EXPECT_EQ(lessor_->counts().held, 4U);
  EXPECT_EQ(lessor_->counts().waiting, 1U);
}

TEST_F(LessorTest, OddKeysAreKeptByteByByte) {
  for (const std::string& key :
       {std::string(base::FenceKey::kMaxBytes, 'k'), std::string("\xF0\x9F\x94\x92/'%")}) {
    const auto lease = acquire(key, "w1", "r" + std::to_string(key.size())).value().lease;
    open();
    EXPECT_EQ(lessor_->show(key_of(key))->held->lease, lease);
  }
}

TEST_F(LessorTest, ClosedItAnswersEverybodyAndLeasesStay) {
  const auto held = acquire("a", "w0", "r0").value().lease;
  const auto waiting = acquire("a", "w1", "r1", 60s);
  lessor_->close();
  EXPECT_EQ(waiting.kind(), ErrorKind::kShuttingDown);
  EXPECT_EQ(acquire("b", "w2", "r2").kind(), ErrorKind::kShuttingDown);
  EXPECT_EQ(renew(held).kind(), ErrorKind::kShuttingDown);
  EXPECT_EQ(release(held).kind(), ErrorKind::kShuttingDown);
  EXPECT_EQ(revoke("a").kind(), ErrorKind::kShuttingDown);
  open();
  EXPECT_TRUE(renew(held).ok());
}

}  // namespace
}  // namespace fenceline::testing
