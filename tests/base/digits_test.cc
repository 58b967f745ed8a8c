#include "base/digits.h"

#include <gtest/gtest.h>

#include <limits>

namespace fenceline::base {
namespace {

TEST(DigitsTest, DecimalToBothEnds) {
  std::string out = "n=";
  append_decimal(out, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(out, "n=-9223372036854775808");
  out.clear();
  append_decimal(out, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(out, "18446744073709551615");
  append_decimal(out, std::int64_t{0});
  EXPECT_EQ(out, "184467440737095516150");
}

TEST(DigitsTest, HexWithAndWithoutAWidth) {
  std::string out;
  append_hex(out, 0);
  append_hex(out, 0xABC, 16);
  append_hex(out, std::numeric_limits<std::uint64_t>::max(), 4);
  EXPECT_EQ(out, "00000000000000abcffffffffffffffff");
}

TEST(DigitsTest, SixteenHexDigitsAndNothingElse) {
  EXPECT_EQ(sixteen_hex_digits("0123456789abcdef"), 0x0123456789ABCDEFU);
  EXPECT_EQ(sixteen_hex_digits("ffffffffffffffff"), std::numeric_limits<std::uint64_t>::max());
  for (std::size_t at = 0; at < 16; ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string digits(16, '0');
      digits[at] = static_cast<char>(byte);
      const std::size_t value = std::string("0123456789abcdef").find(digits[at]);
      const auto expected = value == std::string::npos
                                ? std::nullopt
                                : std::optional(std::uint64_t{value} << (4 * (15 - at)));
      EXPECT_EQ(sixteen_hex_digits(digits.data()), expected) << at << ' ' << byte;
    }
  }
}

}  // namespace
}  // namespace fenceline::base
