#pragma once

// Bounds for quantities: each function makes a parser for `Section::read_into` out of one of
// units.h that also refuses what is out of range and says which range there is.

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "config/units.h"

namespace fenceline::config {

/// Integers from `min` to `max`, both included.
inline auto integer_in(std::int64_t min, std::int64_t max) {
  return [min, max](std::string_view text) -> Parsed<std::int64_t> {
    auto value = parse_integer(text);
    if (value && (*value < min || *value > max)) {
      return tl::unexpected(
          fmt::format("{} is out of range; allowed are {} to {}", text, min, max));
    }
    return value;
  };
}

/// Sizes from `min_bytes` to `max_bytes`, both included.
inline auto size_in(std::uint64_t min_bytes, std::uint64_t max_bytes) {
  return [min_bytes, max_bytes](std::string_view text) -> Parsed<std::uint64_t> {
    auto value = parse_size(text);
    if (value && (*value < min_bytes || *value > max_bytes)) {
      return tl::unexpected(fmt::format("{} is out of range; allowed are {} to {}", text,
                                        format_size(min_bytes), format_size(max_bytes)));
    }
    return value;
  };
}

/// Durations from `min` to `max`, both included.
inline auto duration_in(base::Milliseconds min, base::Milliseconds max) {
  return [min, max](std::string_view text) -> Parsed<base::Milliseconds> {
    auto value = parse_duration(text);
    if (value && (*value < min || *value > max)) {
      return tl::unexpected(fmt::format("{} is out of range; allowed are {} to {}", text,
                                        format_duration(min), format_duration(max)));
    }
    return value;
  };
}

/// A time-out of somebody else: long enough to be meant, at most a day.
inline auto timeout() {
  return duration_in(base::Milliseconds(1), base::Milliseconds(24LL * 60 * 60 * 1000));
}

/// The same, where 0 is "not at all".
inline auto timeout_or_none() {
  return duration_in(base::Milliseconds(0), base::Milliseconds(24LL * 60 * 60 * 1000));
}

/// How long a request may wait at ENTER: 0 is "not at all".
inline auto drain_timeout() {
  return duration_in(base::Milliseconds(0), base::Milliseconds(10LL * 60 * 1000));
}

}  // namespace fenceline::config
