#include "proxy/idempotency_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace fenceline::proxy {
namespace {

constexpr std::string_view kField = "Idempotency-Key";

tl::unexpected<base::Error> refuse(std::string_view why) {
  return base::fail(base::ErrorKind::kMalformedRequest,
                    fmt::format("The field {} {}. Send it once, with 1 to {} visible ASCII "
                                "characters, in quotes or without.",
                                kField, why, kMaxIdempotencyKeyBytes));
}

bool is_visible(char c) { return c > 0x20 && c < 0x7F; }

/// What stands in the quotes; nothing if it is no string of RFC 8941.
std::optional<std::string> unquoted(std::string_view text) {
  std::string key;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      return i + 1 == text.size() ? std::optional(key) : std::nullopt;
    }
    if (c == '\\') {
      ++i;
      if (i == text.size() || (text[i] != '"' && text[i] != '\\')) {
        return std::nullopt;
      }
    }
    key += text[i];
  }
  return std::nullopt;
}

}  // namespace

base::Result<std::optional<std::string>> idempotency_key_from(const base::RequestHead& head) {
  const std::size_t count = head.count(kField);
  if (count == 0) {
    return std::nullopt;
  }
  if (count > 1) {
    return refuse("is there more than once");
  }
  const std::string_view value = *head.only(kField);
  std::optional<std::string> key =
      value.starts_with('"') ? unquoted(value) : std::optional(std::string(value));
  if (!key) {
    return refuse("begins with a quote and is no quoted string");
  }
  if (key->empty()) {
    return refuse("is empty");
  }
  if (key->size() > kMaxIdempotencyKeyBytes) {
    return refuse("is too long");
  }
  if (!std::ranges::all_of(*key, is_visible)) {
    return refuse("has a character that is not visible ASCII");
  }
  return key;
}

}  // namespace fenceline::proxy
