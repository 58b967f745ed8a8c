#include "fencing/lease/lease_timer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "base/boottime_clock.h"
#include "fencing/lease/ended_requests.h"
#include "fencing/lease/expiry_queue.h"
#include "tests/support/lease_calls.h"
#include "tests/support/ledger_calls.h"

namespace fenceline::testing {
namespace {

using namespace std::chrono_literals;
using fencing::EndedRequests;
using fencing::ExpiryQueue;
using Time = base::MonotonicTime;

TEST(LeaseTimerTest, RunsAtTheStartAtItsTimeAndWhenWoken) {
  const base::BoottimeClock clock;
  fencing::LeaseTimer timer;
  timer.wake();
  Arrivals<Time> runs;
  std::atomic<int> count = 0;
  timer.start([&]() -> std::optional<Time> {
    const Time now = clock.now();
    runs.add(now);
    // The first run asks for one more; nothing is due afterwards.
    return ++count == 1 ? std::optional(now + 20ms) : std::nullopt;
  });
  // The wake that came before the start may have made one run of its own.
  const auto first = runs.wait_for(2);
  timer.wake();
  const auto all = runs.wait_for(3);
  timer.stop();
  EXPECT_GE(all.back(), first.front());
  const auto ended = runs.all().size();
  timer.wake();
  EXPECT_EQ(runs.all().size(), ended) << "stopped is stopped";
  timer.stop();
}

TEST(LeaseTimerTest, IsNeverEarly) {
  const base::BoottimeClock clock;
  fencing::LeaseTimer timer;
  Arrivals<bool> late;
  std::optional<Time> due;
  timer.start([&]() -> std::optional<Time> {
    if (due) {
      late.add(clock.now() >= *due);
    }
    due = clock.now() + 3ms;
    return due;
  });
  for (const bool on_time : late.wait_for(20)) {
    EXPECT_TRUE(on_time);
  }
  timer.stop();
}

TEST(ExpiryQueueTest, GivesWhatIsDueInOrderNeverEarly) {
  ExpiryQueue<int> queue;
  const Time start{1h};
  EXPECT_EQ(queue.next(), std::nullopt);
  queue.put(2, start + 2s);
  queue.put(1, start + 2s);
  queue.put(3, start + 1s);
  queue.put(4, start + 1s);
  queue.put(4, start + 9s);
  queue.remove(7);
  EXPECT_EQ(queue.next(), start + 1s);
  EXPECT_EQ(queue.take_due(start + 999ms), std::nullopt);
  EXPECT_EQ(queue.take_due(start + 5s), 3);
  EXPECT_EQ(queue.take_due(start + 5s), 1) << "at the same time, by item";
  EXPECT_EQ(queue.take_due(start + 2s), 2) << "at its time";
  EXPECT_EQ(queue.take_due(start + 5s), std::nullopt);
  EXPECT_TRUE(queue.contains(4));
  queue.remove(4);
  EXPECT_EQ(queue.size(), 0U);
}

TEST(EndedRequestsTest, RemembersForATtlAndNotMoreThanItMay) {
  EndedRequests ended(2);
  const Time start{1h};
  const auto name = [](const char* id) {
    return fencing::attempt_name("worker-1", std::string("request-") + id);
  };
  ended.remember(lease_of("1", {"a"}), start);
  EXPECT_TRUE(ended.contains(name("1"), start + 9999ms));
  EXPECT_FALSE(ended.contains(name("1"), start + 10s));
  ended.remember(lease_of("2", {"a"}), start + 1s);
  ended.remember(lease_of("3", {"a"}), start + 2s);
  ended.remember(lease_of("4", {"a"}), start + 3s);
  EXPECT_EQ(ended.size(), 2U);
  EXPECT_FALSE(ended.contains(name("2"), start + 3s)) << "it would have gone first";
  EXPECT_TRUE(ended.contains(name("4"), start + 3s));
}

}  // namespace
}  // namespace fenceline::testing
