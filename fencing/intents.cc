#include "fencing/intents.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>

#include "base/deadline.h"
#include "fencing/hashed_key.h"
#include "fencing/intent_shard.h"

namespace fenceline::fencing {
namespace {

constexpr std::size_t kShards = 64;
constexpr std::chrono::seconds kIdle{10};
constexpr std::chrono::seconds kBetweenSweeps{1};
constexpr std::size_t kMaxSwept = 256;  // of a shard at a time
constexpr std::chrono::seconds kLoadDeadline{60};
constexpr std::chrono::seconds kCloseDeadline{10};

std::size_t mixed(std::size_t hash, std::size_t more) {
  // As boost::hash_combine.
  return hash ^ (more + 0x9E3779B97F4A7C15U + (hash << 12U) + (hash >> 4U));
}

struct HashedIntent {
  explicit HashedIntent(const Intent& intent)
      : of_key(hash_of(intent.key)),
        of_all(mixed(mixed(mixed(of_key, static_cast<std::size_t>(intent.token.value())),
                           hash_of(intent.route)),
                     hash_of(intent.data))) {}
  std::size_t of_key;
  std::size_t of_all;
};

}  // namespace

class IntentsImpl : public std::enable_shared_from_this<IntentsImpl> {
 public:
  IntentsImpl(Ledger& ledger, const base::Clock& clock) : ledger_(ledger), clock_(clock) {
    for (auto& shard : shards_) {
      shard = std::make_unique<IntentShard>(unsettled_, entries_);
    }
  }

  base::Result<void> load();
  void close();

  std::optional<RunningIntent> try_begin(const Intent& intent) {
    const HashedIntent hashed(intent);
    IntentEntry* const entry = shard_of(hashed.of_key).try_begin(intent, hashed.of_all);
    return entry == nullptr ? std::nullopt : std::optional(RunningIntent(this, entry));
  }

  void begin(Intent intent, bool shared, base::Done<base::Result<RunningIntent>> done) {
    const HashedIntent hashed(intent);
    IntentShard& shard = shard_of(hashed.of_key);
    run(shard, shard.begin(std::move(intent), hashed.of_all, shared, std::move(done)));
  }

  void end(IntentEntry& entry, bool known) {
    const base::MonotonicTime now = clock_.now();
    IntentShard& shard = *entry.shard;
    run(shard, shard.end(entry, known, now));
    sweep_at_times(now);
  }

  bool settle(const Intent& intent) {
    const HashedIntent hashed(intent);
    IntentShard& shard = shard_of(hashed.of_key);
    auto work = shard.settle(intent, hashed.of_all);
    if (!work) {
      return false;
    }
    run(shard, std::move(*work));
    return true;
  }

  std::vector<UnsettledIntent> unsettled(const base::FenceKey& key,
                                         std::optional<base::Token> below) {
    std::vector<UnsettledIntent> found;
    shard_of(hash_of(key.text())).collect(key, below, found);
    return found;
  }

  std::vector<UnsettledIntent> list(std::string_view prefix, std::size_t limit,
                                    const std::optional<Intent>& after) {
    std::vector<UnsettledIntent> found;
    for (const auto& shard : shards_) {
      shard->collect(prefix, limit, after, found);
    }
    std::ranges::sort(found, [](const UnsettledIntent& left, const UnsettledIntent& right) {
      return left.intent < right.intent;
    });
    found.resize(std::min(found.size(), limit));
    return found;
  }

  bool sweep() {
    sweep_at_times(clock_.now());
    // What is in doubt waits for somebody to settle it.
    return entries_.load(std::memory_order_relaxed) > unsettled_count();
  }

  [[nodiscard]] std::size_t unsettled_count() const {
    return unsettled_.load(std::memory_order_acquire);
  }

 private:
  IntentShard& shard_of(std::size_t hash) { return *shards_[hash % kShards]; }

  /// Calls whoever waits and the ledger; without a lock.
  void run(IntentShard& shard, IntentWork work) {
    for (auto& [done, outcome] : work.answers) {
      done(outcome.map([this](IntentEntry* entry) { return RunningIntent(this, entry); }));
    }
    for (const IntentChange& change : work.changes) {
      start(shard, change);
    }
  }

  void start(IntentShard& shard, const IntentChange& change) {
    const auto answered = [self = shared_from_this(), &shard,
                           change](const base::Result<void>& result) {
      self->run(shard, shard.answered(change, result, self->clock_.now()));
    };
    // Nobody changes or removes an entry whose change is under way.
    std::vector<Intent> drop;
    drop.reserve(change.drop.size());
    for (const IntentEntry* const entry : change.drop) {
      drop.push_back(entry->intent);
    }
    if (change.put != nullptr) {
      ledger_.put_intent(change.put->intent, std::move(drop), answered);
    } else {
      ledger_.drop_intents(std::move(drop), answered);
    }
  }

  /// Takes what has been idle for long off the record, in all shards.
  void sweep_at_times(base::MonotonicTime now) {
    base::MonotonicTime due = next_sweep_.load(std::memory_order_relaxed);
    if (now < due || !next_sweep_.compare_exchange_strong(due, now + kBetweenSweeps)) {
      return;
    }
    for (const auto& shard : shards_) {
      run(*shard, shard->sweep(now - kIdle, kMaxSwept));
    }
  }

  Ledger& ledger_;
  const base::Clock& clock_;
  std::atomic<std::size_t> unsettled_ = 0;
  std::atomic<std::size_t> entries_ = 0;
  std::atomic<base::MonotonicTime> next_sweep_{base::MonotonicTime()};
  std::array<std::unique_ptr<IntentShard>, kShards> shards_;
};

base::Result<void> IntentsImpl::load() {
  using Rows = base::Result<std::vector<Intent>>;
  const auto answer = std::make_shared<std::promise<Rows>>();
  auto arrives = answer->get_future();
  ledger_.list_intents([answer](Rows rows) { answer->set_value(std::move(rows)); });
  if (arrives.wait_for(kLoadDeadline) != std::future_status::ready) {
    return base::fail(base::ErrorKind::kLedgerUnavailable,
                      "The ledger did not say in time which writes are on record. Check its disk, "
                      "then start again.");
  }
  Rows rows = arrives.get();
  if (!rows) {
    return base::pass_on(rows.error());
  }
  const base::MonotonicTime now = clock_.now();
  for (Intent& intent : *rows) {
    const HashedIntent hashed(intent);
    shard_of(hashed.of_key).recover(std::move(intent), hashed.of_all, now);
  }
  return {};
}

void IntentsImpl::close() {
  for (const auto& shard : shards_) {
    run(*shard, shard->sweep(base::MonotonicTime::max(), SIZE_MAX));
  }
  // Changes take effect in their order, so this one is answered when those that nobody waited for
  // have been.
  const auto answer = std::make_shared<std::promise<void>>();
  auto arrives = answer->get_future();
  ledger_.drop_intents({}, [answer](const base::Result<void>&) { answer->set_value(); });
  arrives.wait_for(kCloseDeadline);
}

RunningIntent::RunningIntent(RunningIntent&& other) noexcept
    : intents_(std::exchange(other.intents_, nullptr)),
      entry_(std::exchange(other.entry_, nullptr)) {}

RunningIntent& RunningIntent::operator=(RunningIntent&& other) noexcept {
  if (this != &other) {
    if (entry_ != nullptr) {
      std::exchange(intents_, nullptr)->end(*std::exchange(entry_, nullptr), false);
    }
    intents_ = std::exchange(other.intents_, nullptr);
    entry_ = std::exchange(other.entry_, nullptr);
  }
  return *this;
}

RunningIntent::~RunningIntent() {
  if (entry_ != nullptr) {
    intents_->end(*entry_, false);
  }
}

void RunningIntent::finish() {
  if (entry_ != nullptr) {
    std::exchange(intents_, nullptr)->end(*std::exchange(entry_, nullptr), true);
  }
}

Intents::Intents(Ledger& ledger, const base::Clock& clock)
    : impl_(std::make_shared<IntentsImpl>(ledger, clock)) {}
Intents::~Intents() = default;

base::Result<void> Intents::load() { return impl_->load(); }

void Intents::begin(Intent intent, bool shared, base::Done<base::Result<RunningIntent>> done) {
  impl_->begin(std::move(intent), shared, std::move(done));
}

std::optional<RunningIntent> Intents::try_begin(const Intent& intent) {
  return impl_->try_begin(intent);
}

std::size_t Intents::unsettled_count() const { return impl_->unsettled_count(); }

std::vector<UnsettledIntent> Intents::unsettled_below(const base::FenceKey& key,
                                                      base::Token token) {
  return impl_->unsettled(key, token);
}

std::vector<UnsettledIntent> Intents::unsettled_of(const base::FenceKey& key) {
  return impl_->unsettled(key, std::nullopt);
}

std::vector<UnsettledIntent> Intents::list_unsettled(std::string_view prefix, std::size_t limit,
                                                     const std::optional<Intent>& after) {
  return impl_->list(prefix, limit, after);
}

bool Intents::settle(const Intent& intent) { return impl_->settle(intent); }

bool Intents::sweep() { return impl_->sweep(); }

void Intents::close() { impl_->close(); }

}  // namespace fenceline::fencing
