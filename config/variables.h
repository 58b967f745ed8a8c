#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "config/parsed.h"

namespace fenceline::config {

/// The value of an environment variable; nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Puts environment variables into the scalars of the configuration: `${NAME}` is the value of
/// NAME, `$$` is one `$`, any other `$` is itself.
class Variables {
 public:
  /// A scalar with its variables put in.
  struct Expanded {
    std::string text;
    bool has_variable = false;
  };

  explicit Variables(Environment environment) : environment_(std::move(environment)) {}

  /// Takes the braces of every `${…}` of a whole file out of reach of the YAML grammar, where `{`
  /// begins a map. Keeps the length of the text, so that places stay right. Pure.
  /// `text` must have no control bytes but tab and line ends.
  static std::string hide_braces(std::string_view text);

  /// The inverse of `hide_braces`, for text that is shown. Pure.
  static std::string show_braces(std::string_view text);

  /// Expands one scalar of a text that went through `hide_braces`.
  /// Success: its value; what came out of a variable is not scanned again. Failure: a sentence that
  /// names the variable: not set, or not a name (letters, digits and `_`, not starting with a
  /// digit; there are no defaults such as `${NAME:-x}`), or a `${` without `}` on its line.
  [[nodiscard]] Parsed<Expanded> expand(std::string_view hidden) const;

 private:
  Environment environment_;
};

}  // namespace fenceline::config
