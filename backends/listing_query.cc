#include "backends/listing_query.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace fenceline::backends {
namespace {

using base::ErrorKind;
using base::Result;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::optional<std::string> form_decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i] == '+' ? ' ' : text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return std::nullopt;
    }
    decoded.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return decoded;
}

std::optional<std::size_t> parse_limit(std::string_view text) {
  std::size_t limit = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), limit);
  const bool valid = problem == std::errc() && end == text.data() + text.size() && limit >= 1 &&
                     limit <= ListingPage::kMaxEntries;
  return valid ? std::optional(limit) : std::nullopt;
}

tl::unexpected<base::Error> refuse(const char* detail) {
  return base::fail(ErrorKind::kMalformedRequest, detail);
}

}  // namespace

Result<ListingPage> parse_listing_query(std::string_view query, bool takes_prefix) {
  ListingPage page;
  bool has_limit = false;
  bool has_after = false;
  bool has_prefix = !takes_prefix;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::string_view name = pair.substr(0, pair.find('='));
    const std::string_view value = pair.substr(std::min(name.size() + 1, pair.size()));
    if (name == "limit" && !std::exchange(has_limit, true)) {
      const auto limit = parse_limit(value);
      if (!limit) {
        return refuse("limit must be a number from 1 to 1000");
      }
      page.limit = *limit;
    } else if ((name == "after" && !std::exchange(has_after, true)) ||
               (name == "prefix" && !std::exchange(has_prefix, true))) {
      auto text = form_decode(value);
      if (!text) {
        return refuse("after and prefix must be percent-encoded rightly");
      }
      (name == "after" ? page.after : page.prefix) = *std::move(text);
    } else if (!pair.empty()) {
      return refuse(takes_prefix
                        ? "a listing takes the parameters limit, after and prefix, each once"
                        : "a listing takes the parameters limit and after, each once");
    }
  }
  return page;
}

}  // namespace fenceline::backends
