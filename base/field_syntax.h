#pragma once

// The character classes of HTTP/1.1 fields, shared by what reads heads and what writes them. All of
// it is pure, and known at compile time where the text is.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace fenceline::base {

/// Which bytes may be in a token (RFC 9110, 5.6.2).
inline constexpr std::array<bool, 256> kTokenBytes = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrs"
                                       "tuvwxyz!#$%&'*+-.^_`|~")) {
    table[static_cast<std::uint8_t>(c)] = true;
  }
  return table;
}();

/// True for a byte that may be in a token: field names, methods, codings (RFC 9110, 5.6.2).
constexpr bool is_token_char(char c) { return kTokenBytes[static_cast<std::uint8_t>(c)]; }

/// How many bytes at the front of `text` may be in a token.
constexpr std::size_t token_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_token_char(text[length])) {
    ++length;
  }
  return length;
}

/// True if `text` is a token: at least one byte, token bytes only.
constexpr bool is_token(std::string_view text) {
  return !text.empty() && token_length(text) == text.size();
}

/// True if `text` may be a field value: no control byte but HTAB; bytes from 0x80 are opaque data
/// (RFC 9110, 5.5).
inline bool is_field_value(std::string_view text) {
  std::size_t control = find_control(text);
  while (control < text.size() && text[control] == '\t') {
    control = find_control(text, control + 1);
  }
  return control == text.size();
}

constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

/// ASCII case-insensitive equality, as of field names (RFC 9110, 5.1).
constexpr bool equal_names(std::string_view left, std::string_view right) {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(),
                    [](char a, char b) { return a == b || ascii_lower(a) == ascii_lower(b); });
}

/// True if `name` begins with `prefix`, without regard to case.
constexpr bool begins_with_name(std::string_view name, std::string_view prefix) {
  return equal_names(name.substr(0, prefix.size()), prefix);
}

/// True if `name` has only letters, digits and `-`. A server that passes fields on as CGI and WSGI
/// do makes one character of `-`, `_` and, some, of all else, so it may read any other name as one
/// that we have not looked at.
constexpr bool is_plain_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    const char lower = ascii_lower(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

/// True if such a server could read both names as one. `plain` is a plain name.
constexpr bool same_for_loose_servers(std::string_view name, std::string_view plain) {
  return name.size() == plain.size() &&
         std::equal(name.begin(), name.end(), plain.begin(), [](char a, char b) {
           const char read = is_plain_name({&a, 1}) ? a : '-';
           return ascii_lower(read) == ascii_lower(b);
         });
}

/// A fixed set of field names. Asking costs a few instructions for a name that is not in it, which
/// is what nearly all are.
template <std::size_t kSize>
class NameSet {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): reads like a list of names.
  consteval NameSet(const std::array<std::string_view, kSize>& names) : names_(names) {
    for (const std::string_view name : names) {
      seen_ |= mark_of(name);
    }
  }

  /// True if `name` is one of them, without regard to case.
  [[nodiscard]] constexpr bool contains(std::string_view name) const {
    return (seen_ & mark_of(name)) != 0 &&
           std::any_of(names_.begin(), names_.end(),
                       [name](std::string_view one) { return equal_names(name, one); });
  }

 private:
  /// One of 64 bits, by the length and the first letter.
  static constexpr std::uint64_t mark_of(std::string_view name) {
    const auto first = static_cast<std::uint8_t>(name.empty() ? '\0' : ascii_lower(name.front()));
    return std::uint64_t{1} << ((name.size() * 7 + first) % 64);
  }

  std::array<std::string_view, kSize> names_;
  std::uint64_t seen_ = 0;
};

/// `text` without the blanks and tabs around it (OWS, RFC 9110, 5.6.3).
constexpr std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace fenceline::base
