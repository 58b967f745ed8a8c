#pragma once

// The characters of XML 1.0 (fifth edition); all of it is pure.

#include <cstdint>
#include <string>
#include <string_view>

namespace fenceline::backends::s3 {

constexpr bool is_xml_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// The ASCII ones among the characters that a name may have; the colon is not one of them.
constexpr bool starts_xml_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool goes_on_xml_name(char c) {
  return starts_xml_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

/// True if a document may have all of them (2.2). `text` is valid UTF-8.
bool are_xml_characters(std::string_view text);

/// The character that `&name;` stands for: one of the five entities that need no definition (4.6),
/// or `#` and a number (4.1). 0 for anything else.
std::uint32_t referred_character(std::string_view name);

/// Appends a character that a document may have.
void append_utf8(std::string& out, std::uint32_t character);

}  // namespace fenceline::backends::s3
