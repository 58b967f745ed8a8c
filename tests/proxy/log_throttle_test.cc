#include "proxy/log_throttle.h"

#include <gtest/gtest.h>

namespace fenceline::proxy {
namespace {

TEST(LogThrottleTest, OneLinePerIntervalWithTheCountOfThoseBetween) {
  LogThrottle throttle(base::Milliseconds(1000));
  base::MonotonicTime now{};
  EXPECT_EQ(throttle.happened(now), 1U);
  for (int i = 0; i < 9; ++i) {
    now += base::Milliseconds(100);
    EXPECT_EQ(throttle.happened(now), std::nullopt);
  }
  now += base::Milliseconds(100);
  EXPECT_EQ(throttle.happened(now), 10U);
  EXPECT_EQ(throttle.happened(now), std::nullopt);
  now += base::Milliseconds(60'000);
  EXPECT_EQ(throttle.happened(now), 2U);
}

}  // namespace
}  // namespace fenceline::proxy
