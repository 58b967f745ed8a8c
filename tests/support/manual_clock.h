#pragma once

#include <atomic>
#include <chrono>

#include "base/clock.h"

namespace fenceline::testing {

/// A clock that goes on when the test says so.
class ManualClock final : public base::Clock {
 public:
  [[nodiscard]] base::MonotonicTime now() const override { return now_; }
  void advance(base::Milliseconds by) { now_ = now_.load() + by; }

 private:
  std::atomic<base::MonotonicTime> now_{base::MonotonicTime(std::chrono::hours(1))};
};

}  // namespace fenceline::testing
