// Waiting for others, and giving up.

#include <gmock/gmock.h>

#include <future>
#include <mutex>
#include <thread>

#include "tests/client/source_contract.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

using base::ErrorKind;
using base::Result;
using client::Grant;
using client::LeaseOrder;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

TEST_P(SourceContract, AWaiterGetsItWhenItIsReleased) {
  const auto awaited = key("awaited");
  const Source a = open();
  const Grant old = must_acquire(*a, order(awaited));
  auto waiter = std::async(std::launch::async, [&] {
    const Source b = open();
    const Grant grant = must_acquire(*b, waiting(order(awaited, "holder-b")));
    EXPECT_TRUE(b->renew(grant, {}));
    return std::pair(grant, now());
  });
  let_pass(Milliseconds(500));
  ASSERT_EQ(waiter.wait_for(Milliseconds(0)), std::future_status::timeout);
  ASSERT_TRUE(a->release(old));
  const auto released = now();
  const auto [grant, granted] = waiter.get();
  EXPECT_LT(granted - released, kSlack);
  EXPECT_GT(grant.token, old.token);
}

TEST_P(SourceContract, AWaitEnds) {
  const auto bounded = key("bounded");
  const Source a = open();
  const Grant grant = must_acquire(*a, order(bounded));
  const Source b = open();
  LeaseOrder mine = order(bounded, "holder-b");
  mine.wait = Milliseconds(700);
  const auto start = now();
  const auto refused = b->acquire(mine, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kLeaseHeld) << refused.error().detail;
  EXPECT_GE(now() - start, mine.wait);
  EXPECT_LT(now() - start, mine.wait + kSlack);
  // Who gave up is not given it later.
  ASSERT_TRUE(a->release(grant));
  EXPECT_TRUE(is_free_for_others(bounded, kSlack));
}

TEST_P(SourceContract, FirstComeFirstServed) {
  const auto queue = key("queue");
  const Source first = open();
  const Grant held = must_acquire(*first, order(queue));
  std::mutex mutex;
  std::vector<std::string> served;
  const auto wait_for_it = [&](const std::string& name) {
    const Source source = open();
    const Grant grant = must_acquire(*source, waiting(order(queue, name)));
    {
      const std::lock_guard lock(mutex);
      served.push_back(name);
    }
    EXPECT_TRUE(source->release(grant));
  };
  std::vector<std::future<void>> waiters;
  for (const std::string name : {"b", "c", "d"}) {
    waiters.push_back(std::async(std::launch::async, wait_for_it, name));
    let_pass(Milliseconds(1'500));
  }
  // Nobody gets in front by not waiting.
  const auto barging = open()->acquire(order(queue, "e"), {});
  EXPECT_FALSE(barging) << "it is held";
  ASSERT_TRUE(first->release(held));
  for (std::future<void>& waiter : waiters) {
    waiter.get();
  }
  if (server().is_fair()) {
    EXPECT_THAT(served, ElementsAre("b", "c", "d"));
  } else {
    EXPECT_THAT(served, UnorderedElementsAre("b", "c", "d")) << "each once, in any order";
  }
}

TEST_P(SourceContract, AStoppedWaitComesBackAndStandsInNobodysWay) {
  const auto stopped = key("stopped");
  const Source a = open();
  const Grant grant = must_acquire(*a, order(stopped));
  std::stop_source stop;
  auto waiter = std::async(std::launch::async, [&] {
    const Source b = open();
    return b->acquire(waiting(order(stopped, "holder-b")), stop.get_token());
  });
  let_pass(Milliseconds(500));
  const auto asked = now();
  stop.request_stop();
  const Result<Grant> outcome = waiter.get();
  EXPECT_LT(now() - asked, Milliseconds(2'500));
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::kClientGone) << outcome.error().detail;
  ASSERT_TRUE(a->release(grant));
  EXPECT_TRUE(is_free_for_others(stopped, kSlack));
}

TEST_P(SourceContract, AnAttemptStoppedAtAnyTimeLeavesNothing) {
  const auto cut = key("cut");
  const Source source = open();
  for (int i = 0; i < 12; ++i) {
    std::stop_source stop;
    std::jthread stopper([&, i] {
      let_pass(Milliseconds(i / 2));
      stop.request_stop();
    });
    LeaseOrder mine = order(cut, "holder-b");
    mine.wait = kLong;
    const auto grant = source->acquire(mine, stop.get_token());
    if (grant) {
      EXPECT_TRUE(source->release(*grant));
    } else {
      EXPECT_EQ(grant.error().kind, ErrorKind::kClientGone) << grant.error().detail;
    }
    ASSERT_TRUE(is_free_for_others(cut, kSlack)) << "after the stop at " << i / 2 << " ms";
  }
}

TEST_P(SourceContract, AStopBeforeTheStartSendsNothing) {
  const auto early = key("early");
  std::stop_source stop;
  stop.request_stop();
  const auto grant = open()->acquire(order(early), stop.get_token());
  ASSERT_FALSE(grant);
  EXPECT_EQ(grant.error().kind, ErrorKind::kClientGone) << grant.error().detail;
  EXPECT_TRUE(is_free_for_others(early, Milliseconds(0)));
}

}  // namespace
}  // namespace fenceline::testing
