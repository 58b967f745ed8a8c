#include "base/xml_text.h"

#include <cstddef>
#include <cstdint>

#include "base/fence_key.h"

namespace fenceline::base {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Length of the character that a byte >= 0x80 starts, or 0 where there is none that XML can hold.
std::size_t long_character(std::string_view text) {
  const auto lead = static_cast<std::uint8_t>(text.front());
  std::size_t length = 2;
  if (lead >= 0xE0) {
    length = lead >= 0xF0 ? 4 : 3;
  }
  const std::string_view character = text.substr(0, length);
  const bool forbidden = character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
  return character.size() == length && !forbidden && is_valid_utf8(character) ? length : 0;
}

void append_ascii(std::string& out, char c) {
  switch (c) {
    case '&':
      out += "&amp;";
      return;
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '"':
      out += "&quot;";
      return;
    case '\'':
      out += "&apos;";
      return;
    case '\r':
      out += "&#13;";
      return;
    case '\t':
    case '\n':
      out += c;
      return;
    default:
      break;
  }
  if (static_cast<std::uint8_t>(c) < 0x20) {
    out += kReplacement;
  } else {
    out += c;
  }
}

}  // namespace

void append_xml_text(std::string& out, std::string_view text) {
  while (!text.empty()) {
    if (static_cast<std::uint8_t>(text.front()) < 0x80) {
      append_ascii(out, text.front());
      text.remove_prefix(1);
      continue;
    }
    const std::size_t length = long_character(text);
    out += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

void append_xml_element(std::string& out, std::string_view name, std::string_view text) {
  out.append("<").append(name).append(">");
  append_xml_text(out, text);
  out.append("</").append(name).append(">");
}

}  // namespace fenceline::base
