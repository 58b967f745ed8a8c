#include "config/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "base/fence_key.h"
#include "config/known_keys.h"
#include "config/nearest.h"

namespace fenceline::config {
namespace {

/// `routes[3].files` → `routes[].files`, as in the table.
std::string without_indexes(std::string_view path) {
  std::string out;
  bool inside = false;
  for (const char c : path) {
    inside = inside && c != ']';
    if (!inside) {
      out += c;
    }
    inside = inside || c == '[';
  }
  return out;
}

}  // namespace

std::optional<Section> Section::open(const YamlNode& node, std::string path, Report& report) {
  if (node.unusable) {
    return std::nullopt;
  }
  if (node.kind != YamlNode::Kind::kMap) {
    report.add(node.place,
               fmt::format("{} must be a map (`key: value`), but is {}",
                           path.empty() ? "the configuration" : fmt::format("`{}`", path),
                           describe(node.kind)));
    return std::nullopt;
  }
  Section section(node, std::move(path), report);
  section.check_keys();
  return section;
}

void Section::check_keys() {
  const std::string section = without_indexes(path_);
  const std::vector<std::string_view> names = names_in(section);
  for (const YamlEntry& entry : node_->entries) {
    const KnownKey* known =
        find_key(section.empty() ? entry.key : fmt::format("{}.{}", section, entry.key));
    // A key with a dot or a bracket in it could look like a path.
    const bool is_name = entry.key.find_first_of(".[") == std::string::npos;
    if (known != nullptr && is_name) {
      if (!known->available) {
        report_->add(entry.place, fmt::format("`{}` is not in this version", full(entry.key)));
      }
      continue;
    }
    const auto meant = nearest(entry.key, names);
    report_->add(entry.place, meant ? fmt::format("unknown key `{}`; did you mean `{}`?",
                                                  full(entry.key), *meant)
                                    : fmt::format("unknown key `{}`; the keys here are {}",
                                                  full(entry.key), fmt::join(names, ", ")));
  }
}

const YamlEntry* Section::find(std::string_view key) const {
  assert(find_key(without_indexes(full(key))) != nullptr);
  const auto found = std::ranges::find(node_->entries, key, &YamlEntry::key);
  return found == node_->entries.end() ? nullptr : &*found;
}

const YamlNode* Section::value(std::string_view key, Need need) {
  const YamlEntry* entry = find(key);
  if (entry == nullptr) {
    if (need == Need::kRequired) {
      report_->add(place(), fmt::format("the key `{}` is missing", full(key)));
    }
    return nullptr;
  }
  if (entry->value.unusable) {
    return nullptr;
  }
  if (entry->value.kind == YamlNode::Kind::kNull) {
    report_->add(entry->place,
                 fmt::format("`{}` has no value; give it one or remove the key", full(key)));
    return nullptr;
  }
  return &entry->value;
}

std::optional<Section> Section::map(std::string_view key, Need need) {
  const YamlNode* node = value(key, need);
  return node == nullptr ? std::nullopt : open(*node, full(key), *report_);
}

std::optional<std::vector<const YamlNode*>> Section::list(std::string_view key, Need need) {
  const YamlNode* node = value(key, need);
  if (node == nullptr) {
    return std::nullopt;
  }
  if (node->kind != YamlNode::Kind::kSequence) {
    problem(key, *node, fmt::format("must be a list, but is {}", describe(node->kind)));
    return std::nullopt;
  }
  if (node->items.empty()) {
    problem(key, *node, "the list is empty");
    return std::nullopt;
  }
  std::vector<const YamlNode*> items;
  for (const YamlNode& item : node->items) {
    if (!item.unusable) {
      items.push_back(&item);
    }
  }
  return items.empty() ? std::nullopt : std::optional(std::move(items));
}

void Section::problem(std::string_view key, const YamlNode& node, std::string message) {
  report_->add(node.place, fmt::format("`{}`: {}{}", full(key), message,
                                       node.has_variable ? " (from the environment)" : ""));
}

Place Section::place_of(std::string_view key) const {
  const YamlEntry* entry = find(key);
  return entry == nullptr ? place() : entry->value.place;
}

std::string Section::full(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

bool Section::is_text(std::string_view key, const YamlNode& node, bool lines) {
  if (node.unusable) {
    return false;
  }
  if (node.kind != YamlNode::Kind::kScalar) {
    problem(key, node, fmt::format("must be a single value, but is {}", describe(node.kind)));
    return false;
  }
  const auto is_layout = [](char c) { return c == '\n' || c == '\r' || c == '\t'; };
  std::string shown = node.text;
  if (lines) {
    std::erase_if(shown, is_layout);
  }
  if (base::has_control_byte(shown) || !base::is_valid_utf8(node.text)) {
    problem(key, node,
            lines ? "has a control byte or is not valid UTF-8"
                  : "has a control byte, such as a line end, or is not valid UTF-8");
    return false;
  }
  return true;
}

}  // namespace fenceline::config
