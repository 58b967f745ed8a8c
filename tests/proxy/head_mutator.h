#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace fenceline::proxy::testing {

/// Requests that are almost right, from a fixed seed: known good ones with up to four changes.
class Mutator {
 public:
  explicit Mutator(std::uint32_t seed) : random_(seed) {}

  std::string next();

  /// A random number below `limit`; 0 for 0.
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

 private:
  void mutate(std::string& text);
  void insert_line(std::string& text);

  std::mt19937 random_;
};

}  // namespace fenceline::proxy::testing
