#pragma once

#include <chrono>

namespace fenceline::base {

/// Monotonic time: the only time that decisions may look at.
using MonotonicTime = std::chrono::steady_clock::time_point;
using Milliseconds = std::chrono::milliseconds;

/// Source of monotonic time; tests inject their own. Thread-safe.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;
  [[nodiscard]] virtual MonotonicTime now() const = 0;
};

/// The machine's clock.
class SteadyClock final : public Clock {
 public:
  [[nodiscard]] MonotonicTime now() const override { return std::chrono::steady_clock::now(); }
};

}  // namespace fenceline::base
