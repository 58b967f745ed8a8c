#include "fencing/key_range.h"

namespace fenceline::fencing {
namespace {

/// The smallest string that is greater than everything starting with `prefix`.
std::optional<std::string> end_of(std::string_view prefix) {
  std::string end(prefix);
  // 0xFF has no successor, so the byte before it decides.
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xFF) {
    end.pop_back();
  }
  if (end.empty()) {
    return std::nullopt;
  }
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace

KeyRange range_of(std::string_view prefix, std::string_view after) {
  KeyRange range{std::string(prefix), end_of(prefix)};
  if (!after.empty() && after >= prefix) {
    range.first = after;
    range.first.push_back('\0');  // the smallest string above `after`
  }
  return range;
}

}  // namespace fenceline::fencing
