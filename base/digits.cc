#include "base/digits.h"

#include <array>
#include <charconv>

namespace fenceline::base {
namespace {

constexpr std::size_t kMostDigits = 20;  // 2^64, or a sign and 2^63

template <typename Integer>
void append(std::string& out, Integer value, int base, std::size_t width) {
  std::array<char, kMostDigits> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
  const auto size = static_cast<std::size_t>(end - digits.data());
  if (size < width) {
    out.append(width - size, '0');
  }
  out.append(digits.data(), size);
}

}  // namespace

void append_decimal(std::string& out, std::int64_t value) { append(out, value, 10, 1); }

void append_decimal(std::string& out, std::uint64_t value) { append(out, value, 10, 1); }

void append_hex(std::string& out, std::uint64_t value, std::size_t width) {
  append(out, value, 16, width);
}

}  // namespace fenceline::base
