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

std::optional<PatternTable::Found> PatternTable::find(const std::vector<std::string>& segments,
                                                      bool trailing_slash) const {
  for (const std::size_t index : order_) {
    if (auto captures = patterns_[index].match(segments, trailing_slash)) {
      return Found{index, std::move(*captures)};
    }
  }
  return std::nullopt;
}

}  // namespace fenceline::config
