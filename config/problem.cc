#include "config/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace fenceline::config {

std::string to_string(const Problem& problem) {
  if (problem.line == 0) {
    return fmt::format("{}: {}", problem.file, problem.message);
  }
  return fmt::format("{}:{}:{}: {}", problem.file, problem.line, problem.column, problem.message);
}

void Report::add(Place place, std::string message) {
  problems_.push_back({file_, place.line, place.column, std::move(message)});
}

std::vector<Problem> Report::take() {
  // Stable: two problems of one place stay in the order in which they were found.
  std::ranges::stable_sort(problems_, [](const Problem& left, const Problem& right) {
    return std::tie(left.line, left.column) < std::tie(right.line, right.column);
  });
  return std::exchange(problems_, {});
}

}  // namespace fenceline::config
