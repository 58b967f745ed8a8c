#include "fencing/source_watch.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace fenceline::fencing {

Rise longest_rise(std::span<const base::Token> tokens) {
  // lowest_end[n]: the lowest token that ends a rise of n + 1 tokens.
  std::vector<base::Token> lowest_end;
  for (const base::Token token : tokens) {
    const auto place = std::ranges::lower_bound(lowest_end, token);
    if (place == lowest_end.end()) {
      lowest_end.push_back(token);
    } else {
      *place = token;
    }
  }
  return Rise{lowest_end.size(), lowest_end.empty() ? base::Token() : lowest_end.back()};
}

std::size_t SourceWatch::slot_of(const std::string& key) {
  return std::hash<std::string>{}(key) % kSlots;
}

std::optional<Suspicion> SourceWatch::refused(const std::string& key, const Refusal& refusal,
                                              base::MonotonicTime now) {
  const std::lock_guard lock(mutex_);
  Record& record = record_of(key);
  if (record.mark != refusal.mark) {
    // Somebody took the fence over, or it was reset: what was refused before says nothing now.
    record.seen.clear();
    record.told.reset();
    record.mark = refusal.mark;
  }
  drop_old(record, now);
  if (std::ranges::find(record.seen, refusal.presented, &Seen::token) == record.seen.end()) {
    if (record.seen.size() == options_.kept_tokens) {
      record.seen.pop_front();
    }
    record.seen.push_back({refusal.presented, now, std::string(refusal.holder)});
  }
  auto suspicion = judge(record);
  if (!suspicion || (record.told && now - *record.told < options_.repeat)) {
    return std::nullopt;
  }
  record.told = now;
  return suspicion;
}

void SourceWatch::passed(const std::string& key) {
  if (watched_.load(std::memory_order_relaxed) == 0 ||
      slots_[slot_of(key)].load(std::memory_order_relaxed) == 0) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    forget(found->second);
  }
}

std::optional<Suspicion> SourceWatch::suspicion(const std::string& key, base::Token mark,
                                                base::MonotonicTime now) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end() || found->second->mark != mark) {
    return std::nullopt;
  }
  drop_old(*found->second, now);
  return judge(*found->second);
}

SourceWatch::Record& SourceWatch::record_of(const std::string& key) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    records_.splice(records_.end(), records_, found->second);
    return *found->second;
  }
  if (records_.size() >= options_.kept_keys && !records_.empty()) {
    forget(records_.begin());
  }
  records_.push_back(Record{key, {}, {}, {}});
  by_key_.emplace(key, std::prev(records_.end()));
  ++slots_[slot_of(key)];
  ++watched_;
  return records_.back();
}

void SourceWatch::forget(Records::iterator record) {
  --slots_[slot_of(record->key)];
  --watched_;
  by_key_.erase(record->key);
  records_.erase(record);
}

void SourceWatch::drop_old(Record& record, base::MonotonicTime now) const {
  while (!record.seen.empty() && now - record.seen.front().first > options_.window) {
    record.seen.pop_front();
  }
}

std::optional<Suspicion> SourceWatch::judge(const Record& record) const {
  std::vector<base::Token> tokens;
  std::set<std::string_view> holders;
  for (const Seen& seen : record.seen) {
    tokens.push_back(seen.token);
    if (!seen.holder.empty()) {
      holders.insert(seen.holder);
    }
  }
  const Rise rise = longest_rise(tokens);
  if (rise.length < options_.rising) {
    return std::nullopt;
  }
  return Suspicion{record.mark, rise.last, rise.length, holders.size()};
}

}  // namespace fenceline::fencing
