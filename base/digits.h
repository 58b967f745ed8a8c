#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace fenceline::base {

/// True for 0-9, a-f and A-F.
constexpr bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Appends `value` in decimal. For the path of every request, where fmt costs ten times as much.
void append_decimal(std::string& out, std::int64_t value);
void append_decimal(std::string& out, std::uint64_t value);

/// Writes `value` in lower-case hex, at most 16 digits, to `out`; gives the end of it.
char* put_hex(char* out, std::uint64_t value, std::size_t width = 1);

/// Appends `value` in lower-case hex, with zeros in front up to `width` digits (at most 16).
void append_hex(std::string& out, std::uint64_t value, std::size_t width = 1);

/// The number that the sixteen characters from `digits` on are in lower-case hex, with zeros in
/// front; nothing if one of them is no such digit.
std::optional<std::uint64_t> sixteen_hex_digits(const char* digits);

}  // namespace fenceline::base
