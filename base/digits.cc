#include "base/digits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "base/bytes.h"

namespace fenceline::base {
namespace {

constexpr std::size_t kMostHexDigits = 16;
constexpr std::size_t kMostDigits = 20;  // 2^64, or a sign and 2^63

/// The digits of 32 bits, the first in the lowest byte: all eight at once, each in a byte of its
/// own.
std::uint64_t eight_hex_digits(std::uint64_t value) {
  value = ((value & 0xFFFF) << 32U) | (value >> 16U);
  value = ((value & 0x000000FF000000FF) << 16U) | ((value & 0x0000FF000000FF00) >> 8U);
  value = ((value & 0x000F000F000F000F) << 8U) | ((value & 0x00F000F000F000F0) >> 4U);
  const std::uint64_t letters = ((value + 0x0606060606060606) >> 4U) & 0x0101010101010101;
  return value + 0x3030303030303030 + letters * ('a' - '9' - 1);
}
static_assert(std::endian::native == std::endian::little);

/// Back to the eight digits' number; nothing if they are other bytes.
std::optional<std::uint64_t> number_of(std::uint64_t digits) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  const std::uint64_t letters = (digits >> 6U) & kOnes;
  std::uint64_t value = (digits & (0x0F * kOnes)) + 9 * letters;
  const bool are_nibbles = (value & (0xF0 * kOnes)) == 0;
  const bool are_right = letters == (((value + 6 * kOnes) >> 4U) & kOnes) &&
                         digits == value + 0x30 * kOnes + letters * ('a' - '9' - 1);
  if (!are_nibbles || !are_right) {
    return std::nullopt;
  }
  value = __builtin_bswap64(value);
  value = (value | (value >> 4U)) & 0x00FF00FF00FF00FF;
  value = (value | (value >> 8U)) & 0x0000FFFF0000FFFF;
  return (value | (value >> 16U)) & 0xFFFFFFFF;
}

template <typename Integer>
void append(std::string& out, Integer value) {
  std::array<char, kMostDigits> digits;  // NOLINT: to_chars writes what is used of it.
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

}  // namespace

void append_decimal(std::string& out, std::int64_t value) { append(out, value); }

void append_decimal(std::string& out, std::uint64_t value) { append(out, value); }

char* put_hex(char* out, std::uint64_t value, std::size_t width) {
  const auto needed = static_cast<std::size_t>(std::bit_width(value) + 3) / 4;
  const std::size_t size = std::clamp(width, std::max<std::size_t>(needed, 1), kMostHexDigits);
  std::array<char, kMostHexDigits> digits;  // NOLINT: written in two halves.
  const std::array<std::uint64_t, 2> halves = {eight_hex_digits(value >> 32U),
                                               eight_hex_digits(value & 0xFFFFFFFFU)};
  std::memcpy(digits.data(), halves.data(), digits.size());
  std::memcpy(out, digits.data() + (kMostHexDigits - size), size);
  return out + size;
}

void append_hex(std::string& out, std::uint64_t value, std::size_t width) {
  std::array<char, kMostHexDigits> digits;  // NOLINT: written below, as far as it is used.
  const char* const end = put_hex(digits.data(), value, width);
  out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

std::optional<std::uint64_t> sixteen_hex_digits(const char* digits) {
  const auto high = number_of(eight_bytes(digits));
  const auto low = number_of(eight_bytes(digits + sizeof(std::uint64_t)));
  return high && low ? std::optional((*high << 32U) | *low) : std::nullopt;
}

}  // namespace fenceline::base
