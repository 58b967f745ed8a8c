#include "fencing/lease/owed_ends.h"

#include <utility>

namespace fenceline::fencing {

void OwedEnds::ended(const std::string& id, const std::vector<base::FenceKey>& keys) {
  ended_.insert(id);
  keys_of_[id] = keys;
  for (const base::FenceKey& key : keys) {
    ended_on_[key].insert(id);
  }
}

void OwedEnds::closed(const base::FenceKey& key, base::Milliseconds delay) {
  delays_[key] = delay;
  changed_.insert(key);
}

void OwedEnds::opened(const base::FenceKey& key) {
  delays_.erase(key);
  changed_.insert(key);
}

void OwedEnds::stored(const base::FenceKey& key, base::Milliseconds delay) {
  delays_[key] = delay;
  in_store_.insert(key);
}

EndOrder OwedEnds::take() {
  EndOrder order;
  order.ids.assign(ended_.begin(), ended_.end());
  for (const base::FenceKey& key : changed_) {
    if (const auto delay = delays_.find(key); delay != delays_.end()) {
      order.delays.push_back({key, delay->second});
      in_store_.insert(key);
    } else if (in_store_.contains(key)) {
      order.delays_over.push_back(key);
    }
  }
  ended_.clear();
  changed_.clear();
  return order;
}

void OwedEnds::confirm(const EndOrder& order) {
  for (const std::string& id : order.ids) {
    forget(id);
  }
  for (const base::FenceKey& key : order.delays_over) {
    forget_delay(key);
  }
}

void OwedEnds::take_back(const EndOrder& order) {
  for (const std::string& id : order.ids) {
    if (keys_of_.contains(id)) {
      ended_.insert(id);
    }
  }
  for (const LockDelay& delay : order.delays) {
    changed_.insert(delay.key);
  }
  for (const base::FenceKey& key : order.delays_over) {
    changed_.insert(key);
    in_store_.insert(key);
  }
}

void OwedEnds::add_to(GrantOrder& grant) const {
  for (const base::FenceKey& key : grant.lease.keys) {
    if (const auto found = ended_on_.find(key); found != ended_on_.end()) {
      grant.ended.insert(grant.ended.end(), found->second.begin(), found->second.end());
    }
    if (in_store_.contains(key)) {
      grant.delays_over.push_back(key);
    }
  }
}

void OwedEnds::confirm(const GrantOrder& grant) {
  for (const std::string& id : grant.ended) {
    ended_.erase(id);
    forget(id);
  }
  for (const base::FenceKey& key : grant.delays_over) {
    forget_delay(key);
  }
}

void OwedEnds::forget(const std::string& id) {
  const auto found = keys_of_.find(id);
  if (found == keys_of_.end()) {
    return;
  }
  for (const base::FenceKey& key : found->second) {
    const auto on = ended_on_.find(key);
    on->second.erase(id);
    if (on->second.empty()) {
      ended_on_.erase(on);
    }
  }
  keys_of_.erase(found);
}

void OwedEnds::forget_delay(const base::FenceKey& key) {
  // Unless another has begun since, whose order is under way or will be given.
  if (!delays_.contains(key) && !changed_.contains(key)) {
    in_store_.erase(key);
  }
}

}  // namespace fenceline::fencing
