#include "base/range.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/conditions.h"
#include "base/http_date.h"

namespace fenceline::base {
namespace {

using Kind = RangeDecision::Kind;

constexpr auto kHuge = std::numeric_limits<std::uint64_t>::max();

// Digits as a number; one that does not fit 64 bits lies behind every content, so it is cut.
std::optional<std::uint64_t> number(std::string_view digits) {
  if (digits.empty()) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') {
      return std::nullopt;
    }
    const auto digit = static_cast<std::uint64_t>(c - '0');
    value = value > (kHuge - digit) / 10 ? kHuge : value * 10 + digit;
  }
  return value;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool if_range_allows(const RequestHead& head, const RangeTarget& target) {
  if (head.count("If-Range") == 0) {
    return true;
  }
  const auto value = head.only("If-Range");
  if (!value) {
    return false;
  }
  const std::string_view validator = trim(*value);
  if (!validator.empty() && entity_tag_length(validator) == validator.size()) {
    return match_strongly(validator, target.etag);
  }
  return parse_http_date(validator) == target.last_modified_s;
}

RangeDecision suffix(std::uint64_t wanted, std::uint64_t size) {
  if (wanted == 0) {
    return {.kind = Kind::kUnsatisfiable};
  }
  if (size == 0) {
    return {};
  }
  const std::uint64_t length = std::min(wanted, size);
  return {.kind = Kind::kPartial, .offset_bytes = size - length, .length_bytes = length};
}

RangeDecision decide(std::string_view set, std::uint64_t size) {
  const auto dash = set.find('-');
  if (dash == std::string_view::npos) {
    return {};
  }
  const std::string_view first_text = set.substr(0, dash);
  const std::string_view last_text = set.substr(dash + 1);
  const auto first = number(first_text);
  const auto last = number(last_text);
  if (first_text.empty()) {
    return last ? suffix(*last, size) : RangeDecision{};
  }
  // A comma of a list of ranges makes one of the two numbers unreadable, hence the whole answer.
  if (!first || (!last_text.empty() && !last) || (last && *last < *first)) {
    return {};
  }
  if (*first >= size) {
    return {.kind = Kind::kUnsatisfiable};
  }
  const std::uint64_t end = last ? std::min(*last, size - 1) : size - 1;
  return {.kind = Kind::kPartial, .offset_bytes = *first, .length_bytes = end - *first + 1};
}

}  // namespace

RangeDecision decide_range(const RequestHead& head, const RangeTarget& target) {
  const auto range = head.method == Method::kGet ? head.only("Range") : std::nullopt;
  constexpr std::string_view kUnit = "bytes=";
  if (!range || range->size() < kUnit.size() ||
      !equal_names(range->substr(0, kUnit.size()), kUnit) || !if_range_allows(head, target)) {
    return {};
  }
  return decide(trim(range->substr(kUnit.size())), target.size_bytes);
}

std::string content_range(const RangeDecision& part, std::uint64_t size_bytes) {
  return fmt::format("bytes {}-{}/{}", part.offset_bytes, part.offset_bytes + part.length_bytes - 1,
                     size_bytes);
}

std::string unsatisfied_range(std::uint64_t size_bytes) {
  return fmt::format("bytes */{}", size_bytes);
}

}  // namespace fenceline::base
