#include "tests/fuzz/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace fenceline::fuzz {

void check(bool holds, std::string_view promise, std::string_view shown) {
  if (holds) {
    return;
  }
  fmt::print(stderr, "\nBROKEN PROMISE: {}\n{}\n", promise, shown);
  std::fflush(stderr);
  std::abort();
}

std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

Choices::Choices(std::string_view input) : state_(std::hash<std::string_view>()(input)) {}

std::size_t Choices::below(std::size_t bound) {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
  return static_cast<std::size_t>((mixed ^ (mixed >> 31U)) % bound);
}

}  // namespace fenceline::fuzz
