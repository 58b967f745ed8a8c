#include "fencing/ledger_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace fenceline::fencing {
namespace {

using Wake = LedgerQueue::Wake;

RaiseRequest raise_of(std::string key) { return RaiseRequest{std::move(key), {}, {}}; }
FindRequest find_of(std::string key) { return FindRequest{std::move(key), {}}; }

TEST(LedgerQueueTest, GivesTheOldestOfEachKindUpToTheLimit) {
  LedgerQueue queue(100);
  for (const char* key : {"a", "b", "c"}) {
    RaiseRequest raise = raise_of(key);
    FindRequest find = find_of(key);
    ASSERT_TRUE(queue.push(raise));
    ASSERT_TRUE(queue.push(find));
  }
  LedgerBatch batch;
  EXPECT_EQ(queue.take(batch, 2, std::nullopt), Wake::kWork);
  ASSERT_EQ(batch.raises.size(), 2U);
  EXPECT_EQ(batch.raises[0].key, "a");
  EXPECT_EQ(batch.raises[1].key, "b");
  EXPECT_EQ(batch.finds.size(), 2U);
  batch.clear();
  EXPECT_EQ(queue.take(batch, 2, std::nullopt), Wake::kWork);
  ASSERT_EQ(batch.raises.size(), 1U);
  EXPECT_EQ(batch.raises[0].key, "c");
  EXPECT_EQ(batch.finds.size(), 1U);
}

TEST(LedgerQueueTest, IsFullWhenAllKindsTogetherReachTheBound) {
  LedgerQueue queue(2);
  RaiseRequest raise = raise_of("a");
  FindRequest find = find_of("b");
  ScanRequest scan;
  ASSERT_TRUE(queue.push(raise));
  ASSERT_TRUE(queue.push(scan));
  EXPECT_FALSE(queue.push(find));
  EXPECT_EQ(find.key, "b") << "a refused request is not moved away";
  LedgerBatch batch;
  queue.take(batch, 1, std::nullopt);
  EXPECT_TRUE(queue.push(find));
}

TEST(LedgerQueueTest, ReportsIdleWhenNothingComes) {
  LedgerQueue queue(2);
  LedgerBatch batch;
  EXPECT_EQ(queue.take(batch, 1, std::chrono::milliseconds(1)), Wake::kIdle);
}

TEST(LedgerQueueTest, WakesTheTakerOnAPush) {
  LedgerQueue queue(2);
  LedgerBatch batch;
  std::thread taker([&] { EXPECT_EQ(queue.take(batch, 1, std::nullopt), Wake::kWork); });
  RaiseRequest raise = raise_of("a");
  queue.push(raise);
  taker.join();
  EXPECT_EQ(batch.raises.size(), 1U);
}

TEST(LedgerQueueTest, ClosedItGivesAllThatIsLeftWhateverTheLimit) {
  LedgerQueue queue(100);
  for (int i = 0; i < 10; ++i) {
    RaiseRequest raise = raise_of("a");
    queue.push(raise);
  }
  queue.close();
  LedgerBatch batch;
  EXPECT_EQ(queue.take(batch, 2, std::nullopt), Wake::kClosed);
  EXPECT_EQ(batch.raises.size(), 10U);
}

TEST(LedgerQueueTest, ClosingWakesTheTaker) {
  LedgerQueue queue(2);
  std::thread taker([&] {
    LedgerBatch batch;
    EXPECT_EQ(queue.take(batch, 1, std::nullopt), Wake::kClosed);
  });
  queue.close();
  taker.join();
}

}  // namespace
}  // namespace fenceline::fencing
