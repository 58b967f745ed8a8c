#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace fenceline::bench {

/// The command line of the tools of this folder: `--name value` pairs and nothing else.
class Arguments {
 public:
  /// Failure: throws std::runtime_error that names the argument.
  Arguments(int argc, char** argv);

  /// The text of `--name`. Failure: throws std::runtime_error if it was not given.
  [[nodiscard]] std::string text(const std::string& name);
  [[nodiscard]] std::string text(const std::string& name, const std::string& otherwise);

  /// As `text`, as a whole number from 0. Failure: throws std::runtime_error.
  [[nodiscard]] std::uint64_t number(const std::string& name);
  [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t otherwise);

  /// Failure: throws std::runtime_error if an argument was given that nobody asked for.
  void refuse_others() const;

 private:
  std::map<std::string, std::string> given_;
};

}  // namespace fenceline::bench
