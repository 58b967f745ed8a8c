#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fenceline::config {

/// Where something stands in the configuration file. Both count from 1; a column is a byte.
/// Line 0: the file as a whole.
struct Place {
  int line = 0;
  int column = 0;
};

/// One thing that is wrong with a configuration.
struct Problem {
  std::string file;  ///< As it was given to the loader.
  int line = 0;      ///< From 1; 0 when the file as a whole is meant (cannot be read).
  int column = 0;    ///< From 1, in bytes; 0 with line 0.
  /// A sentence for the operator: the key, the reason, the fix. Never quotes a secret:
  /// `admin.token`, what is under `http.credentials`, the secret keys and session tokens of S3.
  std::string message;

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// `file:line:column: message`, the form that editors and CI systems link; `file: message` for line
/// 0. Pure.
std::string to_string(const Problem& problem);

/// Collects the problems of one file, so that all of them are reported and not only the first.
/// Not thread-safe.
class Report {
 public:
  explicit Report(std::string file) : file_(std::move(file)) {}

  /// Adds a problem at `place`. Control bytes of `message`, and what is not UTF-8, are shown as
  /// `\x1b`: it goes to terminals.
  void add(Place place, std::string_view message);

  [[nodiscard]] bool empty() const { return problems_.empty(); }

  /// Gives the problems away, in the order of the file.
  [[nodiscard]] std::vector<Problem> take();

 private:
  std::string file_;
  std::vector<Problem> problems_;
};

}  // namespace fenceline::config
