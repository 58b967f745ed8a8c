#pragma once

#include "base/clock.h"

namespace fenceline::base {

/// The machine's CLOCK_BOOTTIME: monotonic, and it goes on while the machine is suspended. For
/// leases: a holder that slept through its ttl must not take it for valid. Its times have the type
/// of the other monotonic clock but another zero: never compare or subtract times of two clocks.
class BoottimeClock final : public Clock {
 public:
  [[nodiscard]] MonotonicTime now() const override;
};

}  // namespace fenceline::base
