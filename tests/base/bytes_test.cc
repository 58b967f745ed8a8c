#include "base/bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace fenceline::base {
namespace {

TEST(Bytes, FindsTheFirstControlByteWhereverItIs) {
  for (int value = 0; value < 256; ++value) {
    const char c = static_cast<char>(value);
    ASSERT_EQ(is_control(c), value < 0x20 || value == 0x7F) << value;
    for (std::size_t size = 1; size <= 20; ++size) {
      for (std::size_t at = 0; at < size; ++at) {
        std::string text(size, '~');
        text[at] = c;
        ASSERT_EQ(find_control(text), is_control(c) ? at : size) << value << " at " << at;
        ASSERT_EQ(find_control(text, at + 1), size) << value << " at " << at;
      }
    }
  }
}

TEST(Bytes, WhatIsNearAControlByteHidesNothing) {
  // Each pair of neighbours, on both sides of the step of eight.
  for (int left = 0; left < 256; ++left) {
    for (int right = 0; right < 256; ++right) {
      std::string text(24, ' ');
      for (std::size_t at : {2UL, 7UL, 15UL}) {
        text[at] = static_cast<char>(left);
        text[at + 1] = static_cast<char>(right);
      }
      const auto first = std::ranges::find_if(text, is_control);
      ASSERT_EQ(find_control(text), static_cast<std::size_t>(first - text.begin()))
          << left << ' ' << right;
    }
  }
}

}  // namespace
}  // namespace fenceline::base
