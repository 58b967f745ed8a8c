#pragma once

// YAML as a tree of our own, with the place of everything: yaml-cpp's nodes forget duplicate keys
// and share what aliases name. Only `yaml_tree.cc` knows yaml-cpp.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"
#include "config/variables.h"

namespace fenceline::config {

struct YamlEntry;

/// One value of the file.
struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  Place place;       ///< Of its first byte; of an empty value: of its key.
  std::string text;  ///< Of a scalar, with quotes and escapes resolved and variables put in.
  bool has_variable = false;       ///< Part of `text` comes from the environment.
  bool unusable = false;           ///< A problem of it has been reported: look at it no further.
  std::vector<YamlNode> items;     ///< Of a sequence.
  std::vector<YamlEntry> entries;  ///< Of a map, in the order of the file, each key once.
};

/// A key of a map and its value.
struct YamlEntry {
  std::string key;
  Place place;  ///< Of the key.
  YamlNode value;
};

/// "a map", "a list", "a value" or "nothing".
std::string_view describe(YamlNode::Kind kind);

/// The largest file that is read, in bytes.
inline constexpr std::size_t kMaxConfigBytes = 1024 * 1024;

/// How deep lists and maps may be nested; the configuration needs six levels.
inline constexpr std::size_t kMaxYamlDepth = 16;

/// Reads one YAML 1.2 document.
/// Does: takes maps with scalar keys, lists and scalars. Reports, each with its place: syntax
/// errors, control bytes and invalid UTF-8, a size above `kMaxConfigBytes`, nesting above
/// `kMaxYamlDepth`, more than one document, anchors, aliases, tags, duplicate keys (the first one
/// counts), keys that are not scalars. `${NAME}` is one unit for the syntax too, so it can stand
/// unquoted inside `{…}` and `[…]`; `variables` puts it in after the structure is known, so what is
/// in a variable is never read as YAML.
/// Success: the root, in which everything reported is left out or `unusable`. Nothing if there is
/// no structure to go on with; then at least one problem was reported. Never throws.
std::optional<YamlNode> read_yaml(std::string_view text, const Variables& variables,
                                  Report& report);

}  // namespace fenceline::config
