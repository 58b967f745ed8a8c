#include "fencing/intent_shard.h"

#include <iterator>
#include <utility>

namespace fenceline::fencing {
namespace {

// So that a takeover of a key with very many finished writes does not hold the ledger up; the rest
// goes with the next ones.
constexpr std::size_t kMaxDropsPerPut = 256;

// About 400 MiB. Whoever has so many writes in doubt must not begin more.
constexpr std::size_t kMaxEntries = 1U << 20U;

}  // namespace

void IntentShard::recover(Intent intent, std::size_t hash, base::MonotonicTime now) {
  const std::lock_guard lock(mutex_);
  if (find(intent, hash) != nullptr) {
    return;
  }
  IntentEntry& entry = add(std::move(intent), hash);
  entry.on_record = OnRecord::kYes;
  entry.since = now;
  set_in_doubt(entry, true);
}

IntentEntry* IntentShard::try_begin(const Intent& intent, std::size_t hash) {
  const std::lock_guard lock(mutex_);
  IntentEntry* const entry = find(intent, hash);
  if (entry == nullptr || entry->on_record != OnRecord::kYes) {
    return nullptr;
  }
  entry->shared = true;
  ++entry->running;
  set_idle(*entry, false);
  return entry;
}

IntentWork IntentShard::begin(Intent intent, std::size_t hash, bool shared,
                              base::Done<base::Result<RunningIntent>> done) {
  const std::lock_guard lock(mutex_);
  IntentWork work;
  IntentEntry* entry = find(intent, hash);
  if (entry == nullptr) {
    if (entries_.load(std::memory_order_relaxed) >= kMaxEntries) {
      work.answers.emplace_back(
          std::move(done), base::fail(base::ErrorKind::kOverloaded,
                                      "Too many writes are in doubt or under way. Settle those of "
                                      "which the outcome is known, or send the request later."));
      return work;
    }
    entry = &add(std::move(intent), hash);
    entry->on_record = OnRecord::kUnsure;
  }
  entry->shared = entry->shared || shared;
  set_idle(*entry, false);
  if (entry->on_record == OnRecord::kYes) {
    ++entry->running;
    work.answers.emplace_back(std::move(done), entry);
    return work;
  }
  entry->waiting.push_back(std::move(done));
  if (entry->on_record == OnRecord::kUnsure) {
    drop_finished(entry->intent, put(*entry, work));
  }
  return work;
}

IntentWork IntentShard::answered(const IntentChange& change, const base::Result<void>& result,
                                 base::MonotonicTime now) {
  const std::lock_guard lock(mutex_);
  IntentWork work;
  if (change.put != nullptr) {
    answered_put(*change.put, result, work, now);
  }
  for (IntentEntry* const entry : change.drop) {
    answered_drop(*entry, result.has_value(), work, now);
  }
  return work;
}

void IntentShard::answered_put(IntentEntry& entry, const base::Result<void>& result,
                               IntentWork& work, base::MonotonicTime now) {
  auto waiting = std::exchange(entry.waiting, {});
  if (result) {
    entry.on_record = OnRecord::kYes;
    entry.left_behind = false;
    entry.running += waiting.size();
    for (auto& done : waiting) {
      work.answers.emplace_back(std::move(done), &entry);
    }
    return;
  }
  for (auto& done : waiting) {
    work.answers.emplace_back(std::move(done), tl::unexpected<base::Error>(result.error()));
  }
  if (entry.left_behind) {
    entry.on_record = OnRecord::kUnsure;
    entry.since = now;
    set_idle(entry, true);
  } else {
    // The ledger has rolled it back, or it refuses everything from now on and the next start finds
    // what is there.
    remove(entry);
  }
}

void IntentShard::answered_drop(IntentEntry& entry, bool done, IntentWork& work,
                                base::MonotonicTime now) {
  entry.left_behind = !done;
  if (!entry.waiting.empty()) {
    put(entry, work);
  } else if (done) {
    remove(entry);
  } else {
    entry.on_record = OnRecord::kUnsure;
    entry.since = now;
    set_idle(entry, true);
  }
}

IntentWork IntentShard::end(IntentEntry& entry, bool known, base::MonotonicTime now) {
  const std::lock_guard lock(mutex_);
  IntentWork work;
  --entry.running;
  if (!known) {
    entry.since = now;
    set_in_doubt(entry, true);
  } else if (entry.running == 0 && !entry.in_doubt) {
    if (entry.shared) {
      entry.since = now;
      set_idle(entry, true);
    } else {
      drop(entry, work.changes.emplace_back());
    }
  }
  return work;
}

std::optional<IntentWork> IntentShard::settle(const Intent& intent, std::size_t hash) {
  const std::lock_guard lock(mutex_);
  IntentEntry* const entry = find(intent, hash);
  if (entry == nullptr || !entry->in_doubt) {
    return std::nullopt;
  }
  set_in_doubt(*entry, false);
  IntentWork work;
  if (entry->running == 0) {
    // At once, also a shared one: a restart would bring it back.
    drop(*entry, work.changes.emplace_back());
  }
  return work;
}

IntentWork IntentShard::sweep(base::MonotonicTime before, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  IntentWork work;
  IntentChange change;
  while (!idle_.empty() && idle_.front().since <= before && change.drop.size() < limit) {
    drop(idle_.front(), change);
  }
  if (!change.drop.empty()) {
    work.changes.push_back(std::move(change));
  }
  return work;
}

void IntentShard::collect(const base::FenceKey& key, std::optional<base::Token> below,
                          std::vector<UnsettledIntent>& into) {
  const std::lock_guard lock(mutex_);
  for (auto each = in_doubt_.lower_bound(Place{key.text(), {}});
       each != in_doubt_.end() && (*each)->intent.key == key.text() &&
       (!below || (*each)->intent.token < *below);
       ++each) {
    into.push_back({(*each)->intent, (*each)->since});
  }
}

void IntentShard::collect(std::string_view prefix, std::size_t limit,
                          const std::optional<Intent>& after, std::vector<UnsettledIntent>& into) {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  const bool goes_on = after && after->key >= prefix;
  for (auto each = goes_on ? in_doubt_.upper_bound(*after)
                           : in_doubt_.lower_bound(Place{prefix, {}});
       each != in_doubt_.end() && count < limit && (*each)->intent.key.starts_with(prefix);
       ++each, ++count) {
    into.push_back({(*each)->intent, (*each)->since});
  }
}

IntentEntry* IntentShard::find(const Intent& intent, std::size_t hash) {
  const auto found = index_.find(Wanted{intent, hash});
  return found == index_.end() ? nullptr : *found;
}

IntentEntry& IntentShard::add(Intent intent, std::size_t hash) {
  IntentEntry& entry = busy_.emplace_back();
  entry.intent = std::move(intent);
  entry.hash = hash;
  entry.shard = this;
  entry.place = std::prev(busy_.end());
  index_.insert(&entry);
  by_key_.insert(&entry);
  entries_.fetch_add(1, std::memory_order_relaxed);
  return entry;
}

void IntentShard::remove(IntentEntry& entry) {
  index_.erase(&entry);
  by_key_.erase(&entry);
  (entry.idle ? idle_ : busy_).erase(entry.place);
  entries_.fetch_sub(1, std::memory_order_relaxed);
}

void IntentShard::set_idle(IntentEntry& entry, bool idle) {
  if (entry.idle != idle) {
    auto& from = idle ? busy_ : idle_;
    auto& to = idle ? idle_ : busy_;
    to.splice(to.end(), from, entry.place);
    entry.idle = idle;
  }
}

void IntentShard::set_in_doubt(IntentEntry& entry, bool in_doubt) {
  if (entry.in_doubt == in_doubt) {
    return;
  }
  entry.in_doubt = in_doubt;
  if (in_doubt) {
    in_doubt_.insert(&entry);
    unsettled_.fetch_add(1, std::memory_order_release);
  } else {
    in_doubt_.erase(&entry);
    unsettled_.fetch_sub(1, std::memory_order_release);
  }
}

IntentChange& IntentShard::put(IntentEntry& entry, IntentWork& work) {
  entry.on_record = OnRecord::kPutting;
  IntentChange& change = work.changes.emplace_back();
  change.put = &entry;
  return change;
}

void IntentShard::drop(IntentEntry& entry, IntentChange& change) {
  entry.on_record = OnRecord::kDropping;
  set_idle(entry, false);
  change.drop.push_back(&entry);
}

void IntentShard::drop_finished(const Intent& than, IntentChange& change) {
  for (auto each = by_key_.lower_bound(Place{than.key, {}});
       each != by_key_.end() && (*each)->intent.key == than.key &&
       (*each)->intent.token < than.token && change.drop.size() < kMaxDropsPerPut;
       ++each) {
    if ((*each)->idle) {
      drop(**each, change);
    }
  }
}

}  // namespace fenceline::fencing
