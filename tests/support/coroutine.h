#pragma once

#include <gtest/gtest.h>

#include <exception>

namespace fenceline::testing {

/// For `base::spawn`: a coroutine that throws fails the test.
inline void nothing_thrown(const std::exception_ptr& thrown) {
  EXPECT_EQ(thrown, nullptr) << "a coroutine threw";
}

}  // namespace fenceline::testing
