#include "tests/bench/arguments.h"

#include <charconv>
#include <stdexcept>

namespace fenceline::bench {

Arguments::Arguments(int argc, char** argv) {
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (!name.starts_with("--") || i + 1 == argc) {
      throw std::runtime_error("expected `--name value` at \"" + name + "\"");
    }
    given_[name] = argv[i + 1];
  }
}

std::string Arguments::text(const std::string& name) {
  const auto node = given_.extract(name);
  if (node.empty()) {
    throw std::runtime_error(name + " is missing");
  }
  return node.mapped();
}

std::string Arguments::text(const std::string& name, const std::string& otherwise) {
  return given_.contains(name) ? text(name) : otherwise;
}

std::uint64_t Arguments::number(const std::string& name) {
  const std::string digits = text(name);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw std::runtime_error(name + " is \"" + digits + "\", which is no whole number");
  }
  return value;
}

std::uint64_t Arguments::number(const std::string& name, std::uint64_t otherwise) {
  return given_.contains(name) ? number(name) : otherwise;
}

void Arguments::refuse_others() const {
  if (!given_.empty()) {
    throw std::runtime_error("there is no argument " + given_.begin()->first);
  }
}

}  // namespace fenceline::bench
