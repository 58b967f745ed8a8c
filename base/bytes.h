#pragma once

// Looking for bytes eight at a time: every head, key and field value is scanned at least once.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fenceline::base {

/// True below 0x20 and for 0x7f.
constexpr bool is_control(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  return byte < 0x20 || byte == 0x7F;
}

/// Eight bytes in one number.
inline std::uint64_t eight_bytes(const char* at) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof(bytes));
  return bytes;
}

/// The highest bit of each of the eight bytes that is a control byte; no other bit.
constexpr std::uint64_t control_bits(std::uint64_t bytes) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighs = 0x8080808080808080U;
  // Nothing is carried from one byte to the next: each sum stays below 0x100.
  const std::uint64_t low = bytes & ~kHighs;
  const std::uint64_t from_blank = low + kOnes * 0x60U;
  const std::uint64_t not_del = (low ^ ~kHighs) + kOnes * 0x7FU;
  return ~((from_blank & not_del) | bytes) & kHighs;
}

/// True if one of the eight bytes is a control byte.
constexpr bool any_control(std::uint64_t bytes) { return control_bits(bytes) != 0; }

/// True if all eight bytes are ASCII.
constexpr bool all_ascii(std::uint64_t bytes) { return (bytes & 0x8080808080808080U) == 0; }

/// True if `text` is printable ASCII: 0x20 … 0x7e only.
inline bool is_printable(std::string_view text) {
  constexpr std::size_t kStep = sizeof(std::uint64_t);
  while (text.size() >= kStep) {
    const std::uint64_t bytes = eight_bytes(text.data());
    if (any_control(bytes) || !all_ascii(bytes)) {
      return false;
    }
    text.remove_prefix(kStep);
  }
  for (const char c : text) {
    if (c < 0x20 || c == 0x7F) {
      return false;
    }
  }
  return true;
}

/// The first control byte of `text` at or after `from`; `text.size()` if there is none.
inline std::size_t find_control(std::string_view text, std::size_t from = 0) {
  constexpr std::size_t kStep = sizeof(std::uint64_t);
  static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");
  while (from + kStep <= text.size()) {
    const std::uint64_t found = control_bits(eight_bytes(text.data() + from));
    if (found != 0) {
      return from + static_cast<std::size_t>(std::countr_zero(found)) / 8;
    }
    from += kStep;
  }
  if (from < text.size() && text.size() >= kStep) {
    // The last eight bytes, without those that have been looked at.
    const std::size_t last = text.size() - kStep;
    const std::uint64_t found =
        control_bits(eight_bytes(text.data() + last)) >> (8 * (from - last));
    return found == 0 ? text.size() : from + static_cast<std::size_t>(std::countr_zero(found)) / 8;
  }
  while (from < text.size() && !is_control(text[from])) {
    ++from;
  }
  return from;
}

}  // namespace fenceline::base
