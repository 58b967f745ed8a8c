#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace fenceline::proxy {

/// Lets one line pass per interval, for something that may happen many times a second. Not
/// thread-safe.
class LogThrottle {
 public:
  explicit LogThrottle(base::Milliseconds interval) : interval_(interval) {}

  /// It has happened at `now`. How often since the last line, this time included, if a line is due;
  /// nothing otherwise. The first time a line is due.
  std::optional<std::uint64_t> happened(base::MonotonicTime now) {
    ++count_;
    if (last_ && now - *last_ < interval_) {
      return std::nullopt;
    }
    last_ = now;
    const std::uint64_t count = count_;
    count_ = 0;
    return count;
  }

 private:
  base::Milliseconds interval_;
  std::optional<base::MonotonicTime> last_;
  std::uint64_t count_ = 0;
};

}  // namespace fenceline::proxy
