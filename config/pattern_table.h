#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "config/pattern.h"

namespace fenceline::config {

/// Finds the pattern that takes a path: of several, the most specific one. Immutable after
/// construction, so any number of threads may use it at once.
class PatternTable {
 public:
  /// `patterns` must not conflict: no two are equal or overlapping. `validate` has made sure of
  /// that for every loaded configuration; with a conflict, which of the two wins is undefined.
  explicit PatternTable(std::vector<Pattern> patterns);

  /// The most specific pattern that takes the path, as an index into the patterns that were given,
  /// and what it took in `captures`; nothing if none does. See `Pattern::match`. Time grows with
  /// the number of patterns. Thread-safe.
  std::optional<std::size_t> find(const PathSegments& path, Captures& captures) const;

 private:
  std::vector<Pattern> patterns_;
  std::vector<std::size_t> order_;
};

}  // namespace fenceline::config
