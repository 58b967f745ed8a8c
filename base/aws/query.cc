#include "base/aws/query.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/digits.h"

namespace fenceline::base::aws {
namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

int hex_value(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (i + 2 >= text.size() || !is_hex_digit(text[i + 1]) || !is_hex_digit(text[i + 2])) {
      return std::nullopt;
    }
    result += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
    i += 2;
  }
  return result;
}

Result<QueryPairs> split_query(std::string_view query) {
  QueryPairs pairs;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) {
      continue;
    }
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = percent_decoded(pair.substr(0, equals));
    auto value = percent_decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value) {
      auto refusal = fail(ErrorKind::kMalformedRequest,
                          "The query has a `%` that two hexadecimal digits do not follow. Send a "
                          "percent sign as `%25`.");
      refusal.value().code = "InvalidURI";
      return refusal;
    }
    pairs.emplace_back(std::move(*name), std::move(*value));
  }
  return pairs;
}

void append_encoded(std::string& text, std::string_view bytes, bool slashes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : bytes) {
    if (is_unreserved(c) || (c == '/' && !slashes)) {
      text += c;
      continue;
    }
    const auto byte = static_cast<std::uint8_t>(c);
    text += '%';
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
}

std::string canonical_query(const QueryPairs& pairs) {
  QueryPairs encoded;
  encoded.reserve(pairs.size());
  for (const auto& [name, value] : pairs) {
    std::string encoded_name;
    std::string encoded_value;
    append_encoded(encoded_name, name, true);
    append_encoded(encoded_value, value, true);
    encoded.emplace_back(std::move(encoded_name), std::move(encoded_value));
  }
  std::ranges::sort(encoded);
  std::string text;
  for (const auto& [name, value] : encoded) {
    text.append(text.empty() ? "" : "&").append(name).append("=").append(value);
  }
  return text;
}

}  // namespace fenceline::base::aws
