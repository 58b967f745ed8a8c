#include "fencing/lease/lease_book.h"

#include <algorithm>
#include <chrono>

#include "fencing/lease/ended_requests.h"

namespace fenceline::fencing {
namespace {

/// Rounded up: a lease that is held has something left.
base::Milliseconds left_until(base::MonotonicTime due, base::MonotonicTime now) {
  return std::max(base::Milliseconds(0), std::chrono::ceil<base::Milliseconds>(due - now));
}

}  // namespace

void LeaseBook::restore(LeaseRecords records, base::MonotonicTime now) {
  for (Lease& lease : records.leases) {
    Bid& bid = insert(std::move(lease), Bid::State::kGranting, now);
    for (const base::FenceKey& key : bid.lease.keys) {
      keys_[key].holder = &bid;
    }
    hold(bid, now);
  }
  for (const LockDelay& delay : records.delays) {
    owed_.stored(delay.key, delay.delay);
    close_key(delay.key, delay.delay, now);
  }
}

Bid& LeaseBook::insert(Lease lease, Bid::State state, base::MonotonicTime now) {
  auto owned = std::make_unique<Bid>();
  Bid& bid = *owned;
  bid.number = ++last_number_;
  bid.state = state;
  bid.lease = std::move(lease);
  bid.arrived = now;
  attempts_.emplace(attempt_name(bid.lease.holder, bid.lease.request_id), &bid);
  bids_.emplace(bid.number, std::move(owned));
  return bid;
}

void LeaseBook::erase(Bid& bid) {
  const auto attempt = attempts_.find(attempt_name(bid.lease.holder, bid.lease.request_id));
  if (attempt != attempts_.end() && attempt->second == &bid) {
    attempts_.erase(attempt);
  }
  bids_.erase(bid.number);
}

Bid& LeaseBook::add(Lease wanted, base::MonotonicTime now, base::Milliseconds wait) {
  Bid& bid = insert(std::move(wanted), Bid::State::kWaiting, now);
  for (const base::FenceKey& key : bid.lease.keys) {
    auto& line = keys_[key].line;
    line.emplace_hint(line.end(), bid.number, &bid);
  }
  // One of them suffices: the turn comes when all are free.
  touch(bid.lease.keys.front());
  ++counts_.waiting;
  wait_until(bid, now + wait);
  return bid;
}

bool LeaseBook::has_turn(const Bid& bid) const {
  return std::ranges::all_of(bid.lease.keys, [this, &bid](const base::FenceKey& key) {
    const KeyEntry& entry = keys_.at(key);
    return entry.free() && entry.line.begin()->second == &bid;
  });
}

std::vector<Bid*> LeaseBook::take_turns() {
  std::vector<Bid*> turns;
  for (const base::FenceKey& key : std::exchange(touched_, {})) {
    const auto found = keys_.find(key);
    if (found == keys_.end() || found->second.line.empty()) {
      continue;
    }
    Bid& first = *found->second.line.begin()->second;
    if (!has_turn(first)) {
      continue;
    }
    for (const base::FenceKey& own : first.lease.keys) {
      KeyEntry& entry = keys_.at(own);
      entry.line.erase(first.number);
      entry.holder = &first;
    }
    timed_.remove({Due::kWait, first.number});
    first.state = Bid::State::kGranting;
    --counts_.waiting;
    turns.push_back(&first);
  }
  std::ranges::sort(turns, {}, &Bid::number);
  return turns;
}

void LeaseBook::withdraw(Bid& bid) {
  timed_.remove({Due::kWait, bid.number});
  for (const base::FenceKey& key : bid.lease.keys) {
    keys_.at(key).line.erase(bid.number);
    touch(key);
    tidy(key);
  }
  --counts_.waiting;
  erase(bid);
}

void LeaseBook::hold(Bid& bid, base::MonotonicTime now) {
  bid.state = Bid::State::kHeld;
  bid.stored_ttl = bid.lease.ttl;
  bid.due = now + bid.lease.ttl;
  timed_.put({Due::kExpiry, bid.number}, bid.due);
  ++counts_.held;
}

void LeaseBook::extend(Bid& bid, base::MonotonicTime due) {
  bid.due = std::max(bid.due, due);
  timed_.put({Due::kExpiry, bid.number}, bid.due);
}

void LeaseBook::wait_until(Bid& bid, base::MonotonicTime due) {
  bid.due = due;
  timed_.put({Due::kWait, bid.number}, due);
}

void LeaseBook::begin_ending(Bid& bid) {
  timed_.remove({Due::kExpiry, bid.number});
  bid.state = Bid::State::kEnding;
  --counts_.held;
}

void LeaseBook::end(Bid& bid, LockDelayed delayed, base::MonotonicTime now) {
  owed_.ended(bid.lease.id, bid.lease.keys);
  if (delayed == LockDelayed::kYes && bid.lease.lock_delay.count() > 0) {
    for (const base::FenceKey& key : bid.lease.keys) {
      owed_.closed(key, bid.lease.lock_delay);
      close_key(key, bid.lease.lock_delay, now);
    }
  }
  drop(bid);
}

void LeaseBook::drop(Bid& bid) {
  if (bid.state == Bid::State::kHeld) {
    timed_.remove({Due::kExpiry, bid.number});
    --counts_.held;
  }
  free_keys(bid);
  erase(bid);
}

void LeaseBook::free_keys(const Bid& bid) {
  for (const base::FenceKey& key : bid.lease.keys) {
    keys_.at(key).holder = nullptr;
    touch(key);
    tidy(key);
  }
}

void LeaseBook::close_key(const base::FenceKey& key, base::Milliseconds delay,
                          base::MonotonicTime now) {
  KeyEntry& entry = keys_[key];
  if (entry.closed_until) {
    // After a crash between two answers of the store there may be a lease and a delay of one key.
    timed_.remove({Due::kLockDelay, entry.delay_number});
    delays_.erase(entry.delay_number);
  }
  entry.delay_number = ++last_number_;
  entry.closed_until = now + delay;
  delays_.emplace(entry.delay_number, key);
  timed_.put({Due::kLockDelay, entry.delay_number}, *entry.closed_until);
}

void LeaseBook::open_key(std::uint64_t delay_number) {
  const auto found = delays_.find(delay_number);
  const base::FenceKey key = found->second;
  delays_.erase(found);
  keys_.at(key).closed_until.reset();
  owed_.opened(key);
  touch(key);
  tidy(key);
}

std::optional<Bid*> LeaseBook::take_due(base::MonotonicTime now) {
  const auto due = timed_.take_due(now);
  if (!due) {
    return std::nullopt;
  }
  const auto& [kind, number] = *due;
  if (kind == Due::kLockDelay) {
    open_key(number);
    return nullptr;
  }
  return find(number);
}

Bid* LeaseBook::find(std::uint64_t number) const {
  const auto found = bids_.find(number);
  return found == bids_.end() ? nullptr : found->second.get();
}

Bid* LeaseBook::find_attempt(const std::string& name) const {
  const auto found = attempts_.find(name);
  return found == attempts_.end() ? nullptr : found->second;
}

const LeaseBook::KeyEntry* LeaseBook::entry_of(const base::FenceKey& key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? nullptr : &found->second;
}

Bid* LeaseBook::holder_of(const base::FenceKey& key) const {
  const KeyEntry* const entry = entry_of(key);
  return entry == nullptr ? nullptr : entry->holder;
}

bool LeaseBook::all_free(const std::vector<base::FenceKey>& keys) const {
  return std::ranges::all_of(keys, [this](const base::FenceKey& key) {
    const KeyEntry* const entry = entry_of(key);
    return entry == nullptr || (entry->free() && entry->line.empty());
  });
}

std::size_t LeaseBook::waiting_for(const base::FenceKey& key) const {
  const KeyEntry* const entry = entry_of(key);
  return entry == nullptr ? 0 : entry->line.size();
}

base::Milliseconds LeaseBook::lock_delay_left(const base::FenceKey& key,
                                              base::MonotonicTime now) const {
  const KeyEntry* const entry = entry_of(key);
  return entry == nullptr || !entry->closed_until ? base::Milliseconds(0)
                                                  : left_until(*entry->closed_until, now);
}

std::optional<LeaseKeyView> LeaseBook::show(const base::FenceKey& key,
                                            base::MonotonicTime now) const {
  const KeyEntry* const entry = entry_of(key);
  if (entry == nullptr) {
    return std::nullopt;
  }
  LeaseKeyView view;
  view.lock_delay_left = lock_delay_left(key, now);
  view.waiting = entry->line.size();
  if (entry->holder != nullptr) {
    const Bid& bid = *entry->holder;
    switch (bid.state) {
      case Bid::State::kHeld:
        view.held = LeaseView{bid.lease, left_until(bid.due, now)};
        break;
      case Bid::State::kEnding:
        view.lock_delay_left = bid.lease.lock_delay;
        break;
      default:
        ++view.waiting;
    }
  }
  return view;
}

std::vector<Lessor::Listed> LeaseBook::list(const std::string& prefix, const std::string& after,
                                            std::size_t limit, base::MonotonicTime now) const {
  std::vector<Lessor::Listed> rows;
  auto row = after < prefix ? keys_.lower_bound(std::string_view(prefix))
                            : keys_.upper_bound(std::string_view(after));
  for (; row != keys_.end() && row->first.text().starts_with(prefix) && rows.size() < limit;
       ++row) {
    const Bid* const bid = row->second.holder;
    if (bid != nullptr && bid->state == Bid::State::kHeld) {
      rows.push_back({row->first, {bid->lease, left_until(bid->due, now)}});
    }
  }
  return rows;
}

void LeaseBook::tidy(const base::FenceKey& key) {
  const auto found = keys_.find(key);
  if (found->second.free() && found->second.line.empty()) {
    keys_.erase(found);
  }
}

}  // namespace fenceline::fencing
