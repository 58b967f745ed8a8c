// Many threads, few keys, a ledger that answers from another thread: at no time may a write take
// effect after a newer token was acknowledged (S1). Runs under TSan too.

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/worker_pool.h"
#include "fencing/gate.h"
#include "fencing/ledger.h"
#include "tests/support/no_leases.h"

namespace fenceline::fencing {
namespace {

using base::FenceKey;
using base::Result;
using base::Token;

/// Hands every call to another thread, as the SQLite ledger does; every `fail_every`-th fails.
class ThreadedLedger final : public ::fenceline::testing::NoLeases {
 public:
  explicit ThreadedLedger(int fail_every) : fail_every_(fail_every) {}

  void raise(const FenceKey& key, const Mark& offered, base::Done<Result<Mark>> done) override {
    thread_.post([this, key, offered, done = std::move(done)] {
      if (++calls_ % fail_every_ == 0) {
        done(base::fail(base::ErrorKind::kLedgerUnavailable, "every n-th raise fails"));
        return;
      }
      inner_->raise(key, offered, done);
    });
  }

  void find(const FenceKey& key, base::Done<Result<Mark>> done) override {
    thread_.post([this, key, done = std::move(done)] { inner_->find(key, done); });
  }

  void scan(std::string prefix, std::string after, std::size_t limit,
            base::Done<Result<std::vector<KeyedMark>>> done) override {
    inner_->scan(std::move(prefix), std::move(after), limit, std::move(done));
  }

  void reset(const FenceKey& key, const ResetOrder& order,
             base::Done<Result<ResetOutcome>> done) override {
    thread_.post([this, key, order, done = std::move(done)] { inner_->reset(key, order, done); });
  }

  void resets(const FenceKey& key, std::size_t limit,
              base::Done<Result<std::vector<ResetRecord>>> done) override {
    inner_->resets(key, limit, std::move(done));
  }

  void put_intent(Intent put, std::vector<Intent> drop, base::Done<Result<void>> done) override {
    inner_->put_intent(std::move(put), std::move(drop), std::move(done));
  }

  void drop_intents(std::vector<Intent> drop, base::Done<Result<void>> done) override {
    inner_->drop_intents(std::move(drop), std::move(done));
  }

  void list_intents(base::Done<Result<std::vector<Intent>>> done) override {
    inner_->list_intents(std::move(done));
  }

  [[nodiscard]] std::string identity() const override { return inner_->identity(); }

 private:
  const int fail_every_;
  int calls_ = 0;  // of the one thread
  std::unique_ptr<Ledger> inner_ = make_memory_ledger();
  base::WorkerPool thread_{1};
};

struct Destination {
  std::atomic<std::int64_t> acknowledged = 0;
  std::atomic<int> stale_effects = 0;
  std::atomic<int> applied = 0;

  void take_effect(Token token) {
    if (token.value() < acknowledged.load()) {
      ++stale_effects;
    }
    ++applied;
  }

  void acknowledge(Token token) {
    std::int64_t seen = acknowledged.load();
    while (seen < token.value() && !acknowledged.compare_exchange_weak(seen, token.value())) {
    }
  }
};

/// One request from arrival to answer; true if it was acknowledged.
bool write_once(Gate& gate, const FenceKey& key, Token token, bool abandon,
                Destination& destination) {
  std::promise<Result<Ticket>> admitted;
  gate.admit(key, Claim{token, "", 0}, Announce::kYes,
             [&admitted](Result<Ticket> answer) { admitted.set_value(std::move(answer)); });
  Result<Ticket> ticket = admitted.get_future().get();
  if (!ticket) {
    return false;
  }
  std::promise<Result<Permit>> entered;
  gate.enter(*ticket, [&entered](Result<Permit> answer) { entered.set_value(std::move(answer)); });
  if (abandon) {
    gate.abandon(*ticket);
  }
  Result<Permit> permit = entered.get_future().get();
  if (!permit) {
    return false;
  }
  destination.take_effect(token);
  permit->settle(Settlement::kApplied);
  destination.acknowledge(token);
  return true;
}

void expect_no_stale_effect(GateOptions options, std::size_t keys, int rounds) {
  constexpr int kThreads = 6;
  std::vector<Destination> destinations(keys);
  std::atomic<std::int64_t> source = 1;
  auto ledger = std::make_unique<ThreadedLedger>(50);
  Gate gate(*ledger, options);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::minstd_rand random(static_cast<unsigned>(t) + 1);
      for (int i = 0; i < rounds; ++i) {
        const std::size_t k = random() % keys;
        const std::int64_t newest = random() % 4 == 0 ? ++source : source.load();
        const std::int64_t behind = static_cast<std::int64_t>(random() % 3);
        const Token token = Token::of(std::max<std::int64_t>(1, newest - behind));
        write_once(gate, *FenceKey::parse("key/" + std::to_string(k)), token, random() % 16 == 0,
                   destinations[k]);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  int applied = 0;
  // The newest token is always admitted in the end, whatever failed before.
  for (std::size_t k = 0; k < keys; ++k) {
    const Token last = Token::of(++source);
    bool through = false;
    for (int attempt = 0; attempt < 3 && !through; ++attempt) {
      through = write_once(gate, *FenceKey::parse("key/" + std::to_string(k)), last, false,
                           destinations[k]);
    }
    EXPECT_TRUE(through);
    EXPECT_EQ(destinations[k].stale_effects, 0);
    applied += destinations[k].applied;
  }
  EXPECT_GT(applied, kThreads * rounds / 40);
  ledger.reset();
}

TEST(GateStressTest, NoStaleEffectAmongManyThreads) { expect_no_stale_effect({}, 3, 3000); }

// Every key is packed as soon as nobody uses it, and unpacked for the next request.
TEST(GateStressTest, NoStaleEffectWhenIdleKeysArePackedAtOnce) {
  expect_no_stale_effect({.max_warm_keys = 0}, 3, 3000);
}

// More keys than there is room for: they are warm, packed and forgotten in turn. A shard that is
// full of keys in use refuses, so fewer writes get through.
TEST(GateStressTest, NoStaleEffectWhenKeysAreForgotten) {
  expect_no_stale_effect({.max_cached_keys = 64, .max_warm_keys = 64}, 2000, 3000);
}

}  // namespace
}  // namespace fenceline::fencing
