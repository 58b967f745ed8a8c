#include "config/pattern_table.h"

#include <algorithm>
#include <utility>

namespace fenceline::config {

PatternTable::PatternTable(std::vector<Pattern> patterns) : patterns_(std::move(patterns)) {
  for (std::size_t i = 0; i < patterns_.size(); ++i) {
    // Before the first that is more general: whatever is more specific than the new one is more
    // specific than that one too, so it stands further in front already.
    const auto wider = std::ranges::find_if(order_, [this, i](std::size_t other) {
      return relation(patterns_[i], patterns_[other]) == Relation::kMoreSpecific;
    });
    order_.insert(wider, i);
  }
}

std::optional<std::size_t> PatternTable::find(const PathSegments& path, Captures& captures) const {
  for (const std::size_t index : order_) {
    if (patterns_[index].match(path, captures)) {
      return index;
    }
  }
  return std::nullopt;
}

}  // namespace fenceline::config
