#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/clock.h"

namespace fenceline::fencing {

/// What becomes due when. Plain data, O(log n) each; what is due at the same time comes in the
/// order of the items. `Item` is small, ordered and copyable.
template <typename Item>
class ExpiryQueue {
 public:
  /// Puts `item`, or moves it to another time.
  void put(const Item& item, base::MonotonicTime due) {
    remove(item);
    due_of_.emplace(item, due);
    order_.emplace(due, item);
  }

  /// Does nothing if it is not there.
  void remove(const Item& item) {
    const auto found = due_of_.find(item);
    if (found != due_of_.end()) {
      order_.erase({found->second, item});
      due_of_.erase(found);
    }
  }

  [[nodiscard]] bool contains(const Item& item) const { return due_of_.contains(item); }

  /// When the first is due; nothing if it is empty.
  [[nodiscard]] std::optional<base::MonotonicTime> next() const {
    return order_.empty() ? std::nullopt : std::optional(order_.begin()->first);
  }

  /// Takes the first item, if its time has come at `now`: never early, and at its time.
  std::optional<Item> take_due(base::MonotonicTime now) {
    if (order_.empty() || order_.begin()->first > now) {
      return std::nullopt;
    }
    return take_first();
  }

  /// Takes the first item, due or not. It must not be empty.
  Item take_first() {
    Item item = order_.begin()->second;
    order_.erase(order_.begin());
    due_of_.erase(item);
    return item;
  }

  [[nodiscard]] std::size_t size() const { return due_of_.size(); }

 private:
  std::map<Item, base::MonotonicTime> due_of_;
  std::set<std::pair<base::MonotonicTime, Item>> order_;
};

}  // namespace fenceline::fencing
