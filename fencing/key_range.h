#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fenceline::fencing {

/// A stretch of keys in byte order: `first` up to, but without, `end`.
struct KeyRange {
  std::string first;
  std::optional<std::string> end;  ///< Nothing: up to the last key.
};

/// The keys that start with `prefix` and are greater than `after`, which may be empty.
/// A range and not a pattern: `%`, `_` and bytes above 0x7F in a prefix mean themselves. Pure.
KeyRange range_of(std::string_view prefix, std::string_view after);

}  // namespace fenceline::fencing
