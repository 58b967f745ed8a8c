#include "config/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/fence_key.h"

namespace fenceline::config {
namespace {

/// Keys and values that a message quotes may hold anything: YAML has escapes for control bytes, and
/// nobody has checked what is in a variable.
std::string printable(std::string_view text) {
  const bool is_utf8 = base::is_valid_utf8(text);
  std::string shown;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (base::has_control_byte({&c, 1}) || (byte >= 0x80 && !is_utf8)) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  return shown;
}

}  // namespace

std::string to_string(const Problem& problem) {
  if (problem.line == 0) {
    return fmt::format("{}: {}", problem.file, problem.message);
  }
  return fmt::format("{}:{}:{}: {}", problem.file, problem.line, problem.column, problem.message);
}

void Report::add(Place place, std::string_view message) {
  problems_.push_back({file_, place.line, place.column, printable(message)});
}

std::vector<Problem> Report::take() {
  // Stable: two problems of one place stay in the order in which they were found.
  std::ranges::stable_sort(problems_, [](const Problem& left, const Problem& right) {
    return std::tie(left.line, left.column) < std::tie(right.line, right.column);
  });
  return std::exchange(problems_, {});
}

}  // namespace fenceline::config
