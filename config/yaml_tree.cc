#include "config/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "base/fence_key.h"

namespace fenceline::config {
namespace {

/// Leaves yaml-cpp's parser in the middle: it has no other way out. Never leaves this file.
class Stop final : public std::exception {};

Place place_of(const YAML::Mark& mark) {
  return mark.is_null() ? Place{} : Place{mark.line + 1, mark.column + 1};
}

YamlNode make_node(YamlNode::Kind kind, Place place, bool unusable) {
  YamlNode node;
  node.kind = kind;
  node.place = place;
  node.unusable = unusable;
  return node;
}

/// Builds the tree out of yaml-cpp's events.
class Builder final : public YAML::EventHandler {
 public:
  Builder(const Variables& variables, Report& report) : variables_(variables), report_(report) {}

  std::optional<YamlNode> take() { return std::exchange(root_, std::nullopt); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (seen_document_) {
      stop(place_of(mark),
           "a second document begins here; a configuration is one document (or the "
           "indentation of this line is wrong)");
    }
    seen_document_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const Place place = expects_value_of_key() ? open_.back().key_place : place_of(mark);
    if (expects_key()) {
      stop(place_of(mark), "a key is missing here");
    }
    refuse_anchor(place, anchor);
    attach(make_node(YamlNode::Kind::kNull, place, false));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    if (expects_key()) {
      stop(place_of(mark), "an alias (*name) cannot be a key");
    }
    report_.add(place_of(mark), "aliases (*name) are not supported; write the value out");
    attach(make_node(YamlNode::Kind::kNull, place_of(mark), true));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const Place place = place_of(mark);
    const bool refused = refuse_tag(place, tag);
    refuse_anchor(place, anchor);
    if (expects_key()) {
      begin_entry(place, Variables::show_braces(value));
      return;
    }
    YamlNode node = make_node(YamlNode::Kind::kScalar, place, refused);
    if (auto expanded = variables_.expand(value)) {
      node.text = std::move(expanded->text);
      node.has_variable = expanded->has_variable;
    } else {
      report_.add(place, expanded.error());
      node.unusable = true;
    }
    attach(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::kSequence, place_of(mark), tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::kMap, place_of(mark), tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  /// A list or map that has not ended yet.
  struct Open {
    YamlNode node;
    std::unordered_map<std::string, int> lines_of_keys;
    bool has_key = false;
    bool duplicate = false;
    std::string key;
    Place key_place;
  };

  [[noreturn]] void stop(Place place, const std::string& message) {
    report_.add(place, message);
    throw Stop();
  }

  [[nodiscard]] bool expects_key() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::kMap &&
           !open_.back().has_key;
  }
  [[nodiscard]] bool expects_value_of_key() const { return !open_.empty() && open_.back().has_key; }

  void refuse_anchor(Place place, YAML::anchor_t anchor) {
    if (anchor != 0) {
      report_.add(place,
                  "anchors (&name) are not supported; write the value out where it is needed");
    }
  }

  /// yaml-cpp says "?" for a plain value and "!" for a quoted one.
  bool refuse_tag(Place place, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") {
      return false;
    }
    report_.add(place, fmt::format("the tag \"{}\" is not supported; leave it out, every key has "
                                   "its own type",
                                   tag));
    return true;
  }

  void begin_entry(Place place, std::string key) {
    Open& map = open_.back();
    const auto [known, added] = map.lines_of_keys.try_emplace(key, place.line);
    if (!added) {
      report_.add(place,
                  fmt::format("duplicate key `{}`; it is already in line {}", key, known->second));
    }
    map.has_key = true;
    map.duplicate = !added;
    map.key = std::move(key);
    map.key_place = place;
  }

  void open(YamlNode::Kind kind, Place place, const std::string& tag, YAML::anchor_t anchor) {
    if (expects_key()) {
      stop(place, fmt::format("{} cannot be a key", describe(kind)));
    }
    if (open_.size() >= kMaxYamlDepth) {
      stop(place, fmt::format("nested more than {} levels deep", kMaxYamlDepth));
    }
    const bool refused = refuse_tag(place, tag);
    refuse_anchor(place, anchor);
    open_.emplace_back();
    open_.back().node = make_node(kind, place, refused);
  }

  void close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    attach(std::move(node));
  }

  void attach(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = open_.back();
    if (parent.node.kind == YamlNode::Kind::kSequence) {
      parent.node.items.push_back(std::move(node));
      return;
    }
    if (!parent.duplicate) {
      parent.node.entries.push_back({std::move(parent.key), parent.key_place, std::move(node)});
    }
    parent.has_key = false;
  }

  const Variables& variables_;
  Report& report_;
  std::vector<Open> open_;
  std::optional<YamlNode> root_;
  bool seen_document_ = false;
};

/// True if yaml-cpp may see the text. It takes a byte 4 for the end of the file, for one.
bool check_bytes(std::string_view text, Report& report) {
  if (text.size() > kMaxConfigBytes) {
    report.add({}, fmt::format("the file has more than the {} bytes that are read; shorten it",
                               kMaxConfigBytes));
    return false;
  }
  int line = 1;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != '\n') {
      continue;
    }
    const std::string_view row = text.substr(start, i - start);
    const auto bad = std::ranges::find_if(row, [](char c) {
      return c != '\t' && c != '\r' && base::has_control_byte({&c, 1});
    });
    if (bad != row.end()) {
      report.add(
          {line, static_cast<int>(bad - row.begin()) + 1},
          fmt::format("the file has a control byte (0x{:02x})", static_cast<unsigned char>(*bad)));
      return false;
    }
    if (!base::is_valid_utf8(row)) {
      report.add({line, 1}, "this line is not valid UTF-8");
      return false;
    }
    start = i + 1;
    ++line;
  }
  return true;
}

}  // namespace

std::string_view describe(YamlNode::Kind kind) {
  switch (kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return "a value";
    case YamlNode::Kind::kSequence:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
  }
  return "nothing";
}

std::optional<YamlNode> read_yaml(std::string_view text, const Variables& variables,
                                  Report& report) {
  if (!check_bytes(text, report)) {
    return std::nullopt;
  }
  Builder builder(variables, report);
  try {
    std::istringstream stream(Variables::hide_braces(text));
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    // The usual reason is a pattern such as /a/{b} in a map that is written in braces.
    const bool in_braces = error.msg.find("flow") != std::string::npos;
    report.add(place_of(error.mark),
               fmt::format("not valid YAML: {}{}", error.msg,
                           in_braces ? "; inside {…} and […], quote a value that has braces, "
                                       "brackets or commas in it"
                                     : ""));
    return std::nullopt;
  } catch (const std::exception& error) {
    // Whatever else comes out of the library: a file it stumbles over is a bad file.
    report.add({}, fmt::format("the YAML parser gave up: {}", error.what()));
    return std::nullopt;
  }
  std::optional<YamlNode> root = builder.take();
  if (!root || root->kind == YamlNode::Kind::kNull) {
    report.add({1, 1}, "the file is empty; config/quickstart.yaml is a working example");
    return std::nullopt;
  }
  return root;
}

}  // namespace fenceline::config
