#include "base/json_text.h"

#include <cstdint>

#include "base/fence_key.h"

namespace fenceline::base {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Length of the valid UTF-8 sequence that a byte >= 0x80 starts, or 0.
std::size_t long_sequence(std::string_view text) {
  const auto lead = static_cast<std::uint8_t>(text.front());
  std::size_t length = 2;
  if (lead >= 0xF0) {
    length = 4;
  } else if (lead >= 0xE0) {
    length = 3;
  }
  // With this lead byte, exactly `length` valid bytes can only be one sequence.
  return text.size() >= length && is_valid_utf8(text.substr(0, length)) ? length : 0;
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<std::uint8_t>(c);
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (byte < 0x20 || byte == 0x7F) {
    out += "\\u00";
    out += kHex[byte >> 4U];
    out += kHex[byte & 0x0FU];
    return;
  }
  out += c;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    if (static_cast<std::uint8_t>(text.front()) < 0x80) {
      append_escaped(out, text.front());
      text.remove_prefix(1);
      continue;
    }
    const std::size_t length = long_sequence(text);
    out += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

std::string json_string(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  append_json_string(out, text);
  return out;
}

}  // namespace fenceline::base
