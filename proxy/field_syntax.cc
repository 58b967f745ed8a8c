#include "proxy/field_syntax.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace fenceline::proxy {
namespace {

constexpr std::array<bool, 256> token_table() {
  std::array<bool, 256> table{};
  constexpr std::string_view kTokens =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&'*+-.^_`|~";
  for (const char c : kTokens) {
    table[static_cast<std::uint8_t>(c)] = true;
  }
  return table;
}

constexpr std::array<bool, 256> kTokenTable = token_table();

}  // namespace

bool is_token_char(char c) { return kTokenTable[static_cast<std::uint8_t>(c)]; }

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_char);
}

bool is_field_value(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    return (byte >= 0x20 && byte != 0x7F) || c == '\t';
  });
}

std::string_view trim_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace fenceline::proxy
