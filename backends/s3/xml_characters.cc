#include "backends/s3/xml_characters.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

namespace fenceline::backends::s3 {
namespace {

bool is_character(std::uint32_t code) {
  return code == '\t' || code == '\n' || code == '\r' || (code >= 0x20 && code <= 0xD7FF) ||
         (code >= 0xE000 && code <= 0xFFFD) || (code >= 0x10000 && code <= 0x10FFFF);
}

}  // namespace

bool are_xml_characters(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) {
                               const auto byte = static_cast<std::uint8_t>(c);
                               return byte >= 0x20 || is_xml_blank(c);
                             }) &&
         text.find("\xEF\xBF\xBE") == text.npos && text.find("\xEF\xBF\xBF") == text.npos;
}

void append_utf8(std::string& out, std::uint32_t character) {
  const auto byte = [&out](std::uint32_t bits) { out.push_back(static_cast<char>(bits)); };
  if (character < 0x80) {
    byte(character);
    return;
  }
  if (character < 0x800) {
    byte(0xC0U | character >> 6U);
  } else if (character < 0x10000) {
    byte(0xE0U | character >> 12U);
    byte(0x80U | (character >> 6U & 0x3FU));
  } else {
    byte(0xF0U | character >> 18U);
    byte(0x80U | (character >> 12U & 0x3FU));
    byte(0x80U | (character >> 6U & 0x3FU));
  }
  byte(0x80U | (character & 0x3FU));
}

std::uint32_t referred_character(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kNamed{
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  for (const auto& [known, character] : kNamed) {
    if (name == known) {
      return static_cast<std::uint32_t>(character);
    }
  }
  if (!name.starts_with('#')) {
    return 0;
  }
  const bool is_hex = name.starts_with("#x");
  name.remove_prefix(is_hex ? 2 : 1);
  std::uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), code, is_hex ? 16 : 10);
  return error == std::errc() && end == name.data() + name.size() && is_character(code) ? code : 0;
}

}  // namespace fenceline::backends::s3
