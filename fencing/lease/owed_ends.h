#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fence_key.h"
#include "fencing/lease/lease_store.h"

namespace fenceline::fencing {

/// What the store has to be told: leases that have ended, and lock-delays that have begun or are
/// over. It says what holds now, not what happened, so that an order that failed is simply given
/// again, and what a grant does on the way is not lost. Plain data.
class OwedEnds {
 public:
  /// A lease has ended, and the store may hold it.
  void ended(const std::string& id, const std::vector<base::FenceKey>& keys);
  /// A lock-delay has begun; and is over.
  void closed(const base::FenceKey& key, base::Milliseconds delay);
  void opened(const base::FenceKey& key);
  /// The store holds this lock-delay already: it was read from it, or put by a revoke.
  void stored(const base::FenceKey& key, base::Milliseconds delay);

  /// Whether there is an order to give.
  [[nodiscard]] bool any() const { return !ended_.empty() || !changed_.empty(); }
  /// Everything that is owed, as one order; it is under way from here on.
  EndOrder take();
  /// It is durable.
  void confirm(const EndOrder& order);
  /// It has failed: it is owed again.
  void take_back(const EndOrder& order);

  /// What a grant of these keys has to drop, should an order not have been carried out.
  void add_to(GrantOrder& grant) const;
  /// That grant is durable.
  void confirm(const GrantOrder& grant);

  /// Leases and lock-delays that it still knows.
  [[nodiscard]] std::size_t size() const { return keys_of_.size() + in_store_.size(); }

 private:
  void forget(const std::string& id);
  void forget_delay(const base::FenceKey& key);

  std::set<std::string> ended_;                          ///< To be told.
  std::set<base::FenceKey> changed_;                     ///< Whose lock-delay is to be told.
  std::map<base::FenceKey, base::Milliseconds> delays_;  ///< As they are now.
  std::set<base::FenceKey> in_store_;                    ///< The store may hold a lock-delay.
  std::map<std::string, std::vector<base::FenceKey>> keys_of_;  ///< Ended, not confirmed.
  std::map<base::FenceKey, std::set<std::string>> ended_on_;    ///< The same, by key.
};

}  // namespace fenceline::fencing
