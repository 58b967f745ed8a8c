#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "config/pattern.h"

namespace fenceline::config {

/// Finds the pattern that takes a path: of several, the most specific one. Immutable after
/// construction, so any number of threads may use it at once.
class PatternTable {
 public:
  /// What was found.
  struct Found {
    std::size_t index = 0;  ///< Into the patterns as they were given.
    Captures captures;
  };

  /// `patterns` must not conflict: no two are equal or overlapping. `validate` has made sure of
  /// that for every loaded configuration; with a conflict, which of the two wins is undefined.
  explicit PatternTable(std::vector<Pattern> patterns);

  /// The most specific pattern that takes the path; nothing if none does. For the parameters see
  /// `Pattern::match`. Time grows with the number of patterns. Thread-safe.
  [[nodiscard]] std::optional<Found> find(const std::vector<std::string>& segments,
                                          bool trailing_slash) const;

 private:
  std::vector<Pattern> patterns_;
  std::vector<std::size_t> order_;
};

}  // namespace fenceline::config
