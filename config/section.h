#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/parsed.h"
#include "config/problem.h"
#include "config/yaml_tree.h"

namespace fenceline::config {

enum class Need : std::uint8_t { kOptional, kRequired };

/// One map of the configuration while it is read: gives out the values of its keys and reports,
/// each with key and place, what is wrong with them. Looks at the tree and the report, which must
/// outlive it. Not thread-safe.
class Section {
 public:
  /// Opens a map. Reports keys that are not in `known_keys` with the nearest one that is, and those
  /// that are reserved. `path` is "" for the top, else like `routes[0].files`. Nothing, reported,
  /// if `node` is no map.
  static std::optional<Section> open(const YamlNode& node, std::string path, Report& report);

  /// The value of a key, of any kind. Null if it is absent, or if something is reported: a missing
  /// key that is needed, a key without a value. `key` must be in `known_keys`.
  const YamlNode* value(std::string_view key, Need need);

  /// The map under a key; nothing if it is absent or something is reported.
  std::optional<Section> map(std::string_view key, Need need);

  /// The items of the list under a key, each usable; nothing if it is absent or something is
  /// reported; a list that is there has at least one item.
  std::optional<std::vector<const YamlNode*>> list(std::string_view key, Need need);

  /// Reads the scalar under a key with `parse`, which takes a `std::string_view` and gives a
  /// `Parsed<T>`. Nothing if it is absent or something is reported.
  template <typename Parse>
  auto read(std::string_view key, Need need, Parse parse)
      -> std::optional<typename decltype(parse(std::string_view()))::value_type> {
    const YamlNode* node = value(key, need);
    if (node == nullptr) {
      return std::nullopt;
    }
    return parse_scalar(key, *node, std::move(parse));
  }

  /// Like `read`, but leaves `out` as it is (with its default) where `read` gives nothing.
  template <typename T, typename Parse>
  void read_into(std::string_view key, T& out, Parse parse) {
    if (auto value = read(key, Need::kOptional, std::move(parse))) {
      out = static_cast<T>(std::move(*value));
    }
  }

  /// Parses one scalar that belongs to `key`: the value itself or an item of its list.
  template <typename Parse>
  auto parse_scalar(std::string_view key, const YamlNode& node, Parse parse)
      -> std::optional<typename decltype(parse(std::string_view()))::value_type> {
    return is_text(key, node, false) ? parse_checked(key, node, std::move(parse)) : std::nullopt;
  }

  /// Like `parse_scalar`, for a text that may have several lines and tabs.
  template <typename Parse>
  auto parse_lines(std::string_view key, const YamlNode& node, Parse parse)
      -> std::optional<typename decltype(parse(std::string_view()))::value_type> {
    return is_text(key, node, true) ? parse_checked(key, node, std::move(parse)) : std::nullopt;
  }

  /// Reports a problem with what is under a key.
  void problem(std::string_view key, const YamlNode& node, std::string message);

  /// Where the value of a key stands; the section itself if the key is absent.
  [[nodiscard]] Place place_of(std::string_view key) const;

  /// Where the section begins.
  [[nodiscard]] Place place() const { return node_->place; }

  /// True if the key is in the file, whatever its value.
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }

  /// `key` with the path of the section, for messages: `routes[0].files.root`.
  [[nodiscard]] std::string full(std::string_view key) const;

 private:
  Section(const YamlNode& node, std::string path, Report& report)
      : node_(&node), path_(std::move(path)), report_(&report) {}

  [[nodiscard]] const YamlEntry* find(std::string_view key) const;
  void check_keys();
  /// True for a scalar without control bytes (but for line ends and tabs if `lines`); otherwise
  /// reported.
  bool is_text(std::string_view key, const YamlNode& node, bool lines);

  template <typename Parse>
  auto parse_checked(std::string_view key, const YamlNode& node, Parse parse)
      -> std::optional<typename decltype(parse(std::string_view()))::value_type> {
    auto parsed = parse(std::string_view(node.text));
    if (!parsed) {
      problem(key, node, std::move(parsed.error()));
      return std::nullopt;
    }
    return std::move(*parsed);
  }

  const YamlNode* node_;
  std::string path_;
  Report* report_;
};

}  // namespace fenceline::config
