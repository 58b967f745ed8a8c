#include "proxy/uri_syntax.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>

#include "base/digits.h"

namespace fenceline::proxy {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Unreserved characters and sub-delimiters of RFC 3986: what a host name may hold besides `%`.
constexpr std::string_view kNameChars =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-._~!$&'()*+,;=";

constexpr std::array<bool, 256> char_table(std::string_view more) {
  std::array<bool, 256> table{};
  for (const char c : kNameChars) {
    table[static_cast<std::uint8_t>(c)] = true;
  }
  for (const char c : more) {
    table[static_cast<std::uint8_t>(c)] = true;
  }
  return table;
}

constexpr std::array<bool, 256> kHostTable = char_table("");
constexpr std::array<bool, 256> kTargetTable = char_table(":@/?");

/// The first byte of `text` that is neither in `table` nor part of a percent-encoding.
std::size_t find_foreign(std::string_view text, const std::array<bool, 256>& table) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (table[static_cast<std::uint8_t>(text[i])]) {
      continue;
    }
    if (text[i] != '%' || i + 2 >= text.size() || !base::is_hex_digit(text[i + 1]) ||
        !base::is_hex_digit(text[i + 2])) {
      return i;
    }
    i += 2;
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t find_foreign_byte(std::string_view target) {
  return find_foreign(target, kTargetTable);
}

bool is_valid_host(std::string_view value) {
  constexpr std::uint32_t kMaxPort = 65535;
  std::string_view host = value;
  if (value.starts_with('[')) {
    const std::size_t bracket = value.find(']');
    if (bracket == std::string_view::npos) {
      return false;
    }
    const std::string address(value.substr(1, bracket - 1));
    in6_addr parsed{};
    // The C function would stop at a NUL that the value hides.
    if (address.find('\0') != std::string::npos ||
        inet_pton(AF_INET6, address.c_str(), &parsed) != 1) {
      return false;
    }
    host = value.substr(0, bracket + 1);
  } else {
    host = value.substr(0, value.find(':'));
    if (host.empty() || find_foreign(host, kHostTable) != std::string_view::npos) {
      return false;
    }
  }
  std::string_view port = value.substr(host.size());
  if (port.empty()) {
    return true;
  }
  if (port.front() != ':') {
    return false;
  }
  port.remove_prefix(1);
  std::uint32_t number = 0;
  if (port.empty()) {
    return true;  // RFC 3986 allows `host:`.
  }
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return std::ranges::all_of(port, is_digit) && error == std::errc() &&
         end == port.data() + port.size() && number <= kMaxPort;
}

}  // namespace fenceline::proxy
