// Many threads over few keys, the real gate, a ledger on disk: never two holders, tokens rise in
// the order of the grants, the zombie's write never lands. Runs under TSan too.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/boottime_clock.h"
#include "fencing/gate.h"
#include "fencing/lease/lease_timer.h"
#include "fencing/lease/lessor.h"
#include "fencing/sqlite_ledger.h"
#include "tests/support/ledger_calls.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {
namespace {

using namespace std::chrono_literals;
using fencing::LeaseView;

constexpr std::size_t kKeys = 3;

class LessorStressTest : public ::testing::TestWithParam<bool> {
 protected:
  LessorStressTest() {
    fencing::SqliteLedgerOptions options;
    options.path = folder_.at("ledger.db");
    ledger_ = GetParam() ? std::move(fencing::open_sqlite_ledger(std::move(options)).value())
                         : fencing::make_memory_ledger();
    gate_ = std::make_unique<fencing::Gate>(*ledger_, fencing::GateOptions{});
    fencing::LessorParts parts{.store = *ledger_, .gate = *gate_, .clock = clock_, .make_id = {}};
    parts.make_id = [this] {
      const std::string id = std::to_string(++ids_);
      return std::string(32 - id.size(), '0') + id;
    };
    parts.due_sooner = [this] { timer_.wake(); };
    fencing::LeaseLimits limits;
    limits.min_ttl = 1ms;
    lessor_ = std::move(fencing::open_lessor(std::move(parts), limits).value());
    timer_.start([this] { return lessor_->run_due(); });
  }

  ~LessorStressTest() override {
    timer_.stop();
    lessor_->close();
    ledger_.reset();
    lessor_.reset();
  }

  base::Result<LeaseView> acquire(const fencing::AcquireOrder& order, bool cancel) {
    const auto answer = std::make_shared<Arrivals<base::Result<LeaseView>>>();
    const auto attempt =
        lessor_->acquire(order, [answer](auto result) { answer->add(std::move(result)); });
    if (cancel) {
      lessor_->cancel(attempt);
    }
    return answer->wait_for(1).front();
  }

  /// A write with the lease's token, through the gate: true if it was let in.
  bool write(std::size_t key, std::int64_t token) {
    const auto ticket = std::make_shared<Arrivals<std::shared_ptr<fencing::Ticket>>>();
    gate_->admit(
        key_of(name_of(key)), fencing::Claim{base::Token::of(token), {}, 0},
        fencing::Announce::kYes, [ticket](base::Result<fencing::Ticket> admitted) {
          ticket->add(admitted ? std::make_shared<fencing::Ticket>(std::move(*admitted)) : nullptr);
        });
    const auto admitted = ticket->wait_for(1).front();
    if (!admitted) {
      return false;
    }
    const auto entered = std::make_shared<Arrivals<bool>>();
    gate_->enter(*admitted, [this, key, token, entered](base::Result<fencing::Permit> permit) {
      if (permit) {
        // Inside: whoever was granted a higher token has not been answered yet.
        if (acknowledged_[key] > token) {
          ++stale_effects_;
        }
        permit->settle(fencing::Settlement::kApplied);
      }
      entered->add(permit.has_value());
    });
    return entered->wait_for(1).front();
  }

  static std::string name_of(std::size_t key) { return "key/" + std::to_string(key); }

  void work(unsigned seed, int rounds) {
    std::mt19937 random(seed);
    for (int i = 0; i < rounds; ++i) {
      fencing::AcquireOrder order;
      std::vector<std::size_t> keys;
      for (std::size_t key = 0; key < kKeys; ++key) {
        if (random() % 2 == 0) {
          keys.push_back(key);
          order.keys.push_back(key_of(name_of(key)));
        }
      }
      if (keys.empty()) {
        continue;
      }
      order.holder = "w" + std::to_string(seed);
      order.request_id = std::to_string(i);
      order.ttl = random() % 4 == 0 ? 2ms : 60'000ms;
      order.wait = random() % 3 == 0 ? 0ms : 20'000ms;
      order.lock_delay = Milliseconds(random() % 3);
      const auto view = acquire(order, random() % 8 == 0);
      if (view) {
        hold(keys, *view, order.ttl > 1000ms);
      }
    }
  }

  /// Whoever has a lease that does not expire now must be alone.
  void hold(const std::vector<std::size_t>& keys, const LeaseView& view, bool lasting) {
    const std::int64_t token = view.lease.token.value();
    for (const std::size_t key : keys) {
      std::int64_t before = acknowledged_[key];
      while (before < token && !acknowledged_[key].compare_exchange_weak(before, token)) {
      }
      wrong_tokens_ += lasting && before >= token ? 1 : 0;
      if (lasting) {
        doubles_ += holders_[key].fetch_add(1) != 0 ? 1 : 0;
      }
    }
    for (const std::size_t key : keys) {
      if (!write(key, token)) {
        refused_ += lasting ? 1 : 0;
      }
    }
    if (lasting) {
      for (const std::size_t key : keys) {
        --holders_[key];
      }
      const auto done = std::make_shared<Arrivals<bool>>();
      lessor_->release(view.lease.keys.front(), view.lease.id,
                       [done](const auto& result) { done->add(result.has_value()); });
      lost_ += done->wait_for(1).front() ? 0 : 1;
      ++held_;
      // As a zombie: whether it passes depends on who came after; it never harms.
      write(keys.front(), token);
    }
  }

  using Milliseconds = base::Milliseconds;

  TempFolder folder_;
  base::BoottimeClock clock_;
  fencing::LeaseTimer timer_;
  std::unique_ptr<fencing::Ledger> ledger_;
  std::unique_ptr<fencing::Gate> gate_;
  std::unique_ptr<fencing::Lessor> lessor_;
  std::atomic<int> ids_ = 0;
  std::array<std::atomic<std::int64_t>, kKeys> acknowledged_{};
  std::array<std::atomic<int>, kKeys> holders_{};
  std::atomic<int> stale_effects_ = 0;
  std::atomic<int> wrong_tokens_ = 0;
  std::atomic<int> doubles_ = 0;
  std::atomic<int> refused_ = 0;
  std::atomic<int> lost_ = 0;
  std::atomic<int> held_ = 0;
};

TEST_P(LessorStressTest, NeverTwoHoldersAndNoStaleWrite) {
  constexpr unsigned kThreads = 6;
  const int rounds = GetParam() ? 25 : 200;
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= kThreads; ++seed) {
    threads.emplace_back([this, seed, rounds] { work(seed, rounds); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(doubles_, 0);
  EXPECT_EQ(stale_effects_, 0);
  EXPECT_EQ(wrong_tokens_, 0) << "tokens rise in the order of the grants";
  EXPECT_EQ(refused_, 0) << "a holder's write passes";
  EXPECT_EQ(lost_, 0);
  EXPECT_GT(held_, 20);
  EXPECT_EQ(lessor_->counts().waiting, 0U);
}

INSTANTIATE_TEST_SUITE_P(Over, LessorStressTest, ::testing::Values(false, true),
                         [](const auto& of) { return of.param ? "Sqlite" : "Memory"; });

}  // namespace
}  // namespace fenceline::testing
