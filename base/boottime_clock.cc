#include "base/boottime_clock.h"

#include <ctime>

namespace fenceline::base {

MonotonicTime BoottimeClock::now() const {
  timespec time{};
  // Cannot fail: Linux has had this clock since 2.6.39, and the address is valid.
  clock_gettime(CLOCK_BOOTTIME, &time);
  return MonotonicTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

}  // namespace fenceline::base
