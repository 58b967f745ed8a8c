// Many threads on few keys: at every moment the record covers who may run, and at the end it holds
// exactly what is in doubt.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/worker_pool.h"
#include "fencing/intents.h"
#include "tests/support/ledger_calls.h"
#include "tests/support/manual_clock.h"
#include "tests/support/no_leases.h"

namespace fenceline::fencing {
namespace {

using ::fenceline::testing::Arrivals;
using ::fenceline::testing::intent_of;
using ::fenceline::testing::intents_now;
using ::fenceline::testing::ManualClock;
using Record = std::set<Intent>;

/// Changes intents on another thread, in the order of the calls, as the SQLite ledger does; every
/// `fail_every`-th change fails.
class ThreadedIntents final : public ::fenceline::testing::NoLeases {
 public:
  explicit ThreadedIntents(int fail_every) : fail_every_(fail_every) {}

  void raise(const base::FenceKey&, const Mark&, base::Done<base::Result<Mark>>) override {}
  void find(const base::FenceKey&, base::Done<base::Result<Mark>>) override {}
  void scan(std::string, std::string, std::size_t,
            base::Done<base::Result<std::vector<KeyedMark>>>) override {}
  void reset(const base::FenceKey&, const ResetOrder&,
             base::Done<base::Result<ResetOutcome>>) override {}
  void resets(const base::FenceKey&, std::size_t,
              base::Done<base::Result<std::vector<ResetRecord>>>) override {}

  void put_intent(Intent put, std::vector<Intent> drop,
                  base::Done<base::Result<void>> done) override {
    change([put = std::move(put), drop = std::move(drop)](
               Ledger& inner, auto answered) { inner.put_intent(put, drop, std::move(answered)); },
           std::move(done));
  }

  void drop_intents(std::vector<Intent> drop, base::Done<base::Result<void>> done) override {
    change([drop = std::move(drop)](
               Ledger& inner, auto answered) { inner.drop_intents(drop, std::move(answered)); },
           std::move(done));
  }

  void list_intents(base::Done<base::Result<std::vector<Intent>>> done) override {
    thread_.post([this, done = std::move(done)] { inner_->list_intents(done); });
  }

  [[nodiscard]] std::string identity() const override { return inner_->identity(); }

  void stop_failing() { fails_ = false; }

 private:
  template <typename Change>
  void change(Change change, base::Done<base::Result<void>> done) {
    thread_.post([this, change = std::move(change), done = std::move(done)] {
      if (fails_ && ++calls_ % fail_every_ == 0) {
        done(base::fail(base::ErrorKind::kLedgerUnavailable, "every n-th change fails"));
        return;
      }
      change(*inner_, done);
    });
  }

  const int fail_every_;
  std::atomic<bool> fails_ = true;
  int calls_ = 0;  // of the one thread
  std::unique_ptr<Ledger> inner_ = make_memory_ledger();
  base::WorkerPool thread_{1};
};

std::optional<RunningIntent> begin(Intents& intents, const Intent& intent, bool shared) {
  if (shared) {
    if (auto known = intents.try_begin(intent)) {
      return known;
    }
  }
  const auto answer = std::make_shared<Arrivals<std::shared_ptr<RunningIntent>>>();
  intents.begin(intent, shared, [answer](base::Result<RunningIntent> result) {
    answer->add(result ? std::make_shared<RunningIntent>(std::move(*result)) : nullptr);
  });
  const auto running = answer->wait_for(1).front();
  return running == nullptr ? std::nullopt : std::optional(std::move(*running));
}

TEST(IntentsStressTest, TheRecordCoversWhoRunsAndKeepsWhatIsInDoubt) {
  constexpr int kThreads = 6;
  constexpr int kRounds = 400;
  ThreadedIntents ledger(7);
  ManualClock clock;
  Intents intents(ledger, clock);
  std::atomic<int> uncovered = 0;
  std::vector<Record> lost(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t + 1));
      for (int i = 0; i < kRounds; ++i) {
        const bool shared = random() % 2 == 0;
        const std::string data = shared ? "shared" : std::to_string(t) + "-" + std::to_string(i);
        const Intent intent = intent_of(random() % 2 == 0 ? "a" : "b",
                                        static_cast<std::int64_t>(random() % 4 + 1), data);
        auto running = begin(intents, intent, shared);
        if (!running) {
          continue;
        }
        if (random() % 8 == 0) {
          const auto record = intents_now(ledger).value();
          uncovered += std::count(record.begin(), record.end(), intent) == 1 ? 0 : 1;
        }
        if (random() % 16 != 0) {
          running->finish();
          clock.advance(base::Milliseconds(100));
        } else if (!shared) {
          lost[static_cast<std::size_t>(t)].insert(intent);
        } else {
          running.reset();
          intents.settle(intent);  // of somebody else's doubt too: it is only counted in the end
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(uncovered.load(), 0);
  Record expected;
  for (const Record& each : lost) {
    expected.insert(each.begin(), each.end());
  }
  Record unsettled;
  for (const UnsettledIntent& each : intents.list_unsettled("", SIZE_MAX)) {
    unsettled.insert(each.intent);
  }
  EXPECT_EQ(unsettled, expected);
  EXPECT_EQ(intents.unsettled_count(), expected.size());
  ledger.stop_failing();
  intents.close();
  intents.close();  // what failed while the first was on its way
  const auto record = intents_now(ledger).value();
  EXPECT_EQ(Record(record.begin(), record.end()), expected);
  for (const Intent& intent : expected) {
    EXPECT_TRUE(intents.settle(intent));
  }
  intents.close();
  EXPECT_TRUE(intents_now(ledger).value().empty());
  EXPECT_FALSE(intents.any_unsettled());
}

}  // namespace
}  // namespace fenceline::fencing
