#include "config/pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fence_key.h"

namespace fenceline::config {
namespace {

bool is_name(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && letter(text.front()) && std::ranges::all_of(text, [&letter](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

std::optional<std::string> problem_with_text(std::string_view text) {
  if (text.empty()) {
    return "the pattern is empty; \"/{path...}\" takes every path";
  }
  if (text.size() > Pattern::kMaxBytes) {
    return fmt::format("the pattern has {} bytes; at most {} are allowed", text.size(),
                       Pattern::kMaxBytes);
  }
  if (base::has_control_byte(text) || !base::is_valid_utf8(text)) {
    return "the pattern has a control byte or is not valid UTF-8";
  }
  if (text.front() != '/') {
    if (text.find(" /") != std::string_view::npos) {
      return fmt::format(
          "\"{}\" has something before the path; a pattern is a path alone, methods go into "
          "`methods`",
          text);
    }
    return fmt::format("\"{}\" must start with \"/\"", text);
  }
  const std::size_t bad = text.find_first_of("%?#\\");
  if (bad != std::string_view::npos) {
    return fmt::format(
        "\"{}\" has a \"{}\"; a pattern is a decoded path: write the character itself, without "
        "percent-encoding, query or backslash",
        text, text[bad]);
  }
  return std::nullopt;
}

/// Joins the values: without a copy if they follow each other in the path.
void name_resource(Captures& captures) {
  const auto& values = captures.values;
  bool adjacent = true;
  for (std::size_t i = 1; i < values.size(); ++i) {
    // An empty rest takes its slash along.
    adjacent = adjacent && (values[i].empty() ||
                            values[i].data() == values[i - 1].data() + values[i - 1].size() + 1);
  }
  const std::string_view last =
      values.size() > 1 && values.back().empty() ? values[values.size() - 2] : values.back();
  if (adjacent) {
    captures.resource_name = PathSegments::span_of(values.front(), last);
    return;
  }
  for (const std::string_view value : values) {
    if (!captures.joined.empty() && !value.empty()) {
      captures.joined += '/';
    }
    captures.joined += value;
  }
  captures.resource_name = captures.joined;
}

}  // namespace

Parsed<Pattern> Pattern::parse(std::string_view text) {
  if (auto problem = problem_with_text(text)) {
    return tl::unexpected(std::move(*problem));
  }
  Pattern pattern(text);
  std::string_view rest = text.substr(1);
  for (bool last = false; !last;) {
    const std::size_t slash = rest.find('/');
    last = slash == std::string_view::npos;
    if (auto added = pattern.add_segment(rest.substr(0, slash), last); !added) {
      return tl::unexpected(std::move(added.error()));
    }
    rest.remove_prefix(last ? rest.size() : slash + 1);
  }
  return pattern;
}

Parsed<void> Pattern::add_segment(std::string_view segment, bool last) {
  if (segment.empty()) {
    if (!last) {
      return tl::unexpected(fmt::format("\"{}\" has an empty segment (\"//\")", text_));
    }
    segments_.push_back({Kind::kRest, {}});
    capture_names_.emplace_back();
    return {};
  }
  if (segment == "." || segment == "..") {
    return tl::unexpected(
        fmt::format("\"{}\" has the segment \"{}\", which no request can reach", text_, segment));
  }
  if (segment.find_first_of("{}") != std::string_view::npos) {
    return add_wildcard(segment, last);
  }
  segments_.push_back({Kind::kLiteral, std::string(segment)});
  return {};
}

Parsed<void> Pattern::add_wildcard(std::string_view segment, bool last) {
  const std::string_view inner =
      segment.size() < 2 ? std::string_view() : segment.substr(1, segment.size() - 2);
  if (segment.front() != '{' || segment.back() != '}' ||
      inner.find_first_of("{}") != std::string_view::npos) {
    return tl::unexpected(fmt::format(
        "\"{}\": the segment \"{}\" mixes a wildcard with other text; a wildcard is a whole "
        "segment, like \"{{name}}\"",
        text_, segment));
  }
  if (inner == "$") {
    if (!last) {
      return tl::unexpected(fmt::format("\"{}\": \"{{$}}\" is only allowed at the end", text_));
    }
    segments_.push_back({Kind::kEnd, {}});
    return {};
  }
  const bool rest = inner.ends_with("...");
  const std::string_view name = rest ? inner.substr(0, inner.size() - 3) : inner;
  if (!is_name(name)) {
    return tl::unexpected(fmt::format(
        "\"{}\": \"{}\" is no wildcard; its name is letters, digits and \"_\", not starting with "
        "a digit",
        text_, segment));
  }
  if (rest && !last) {
    return tl::unexpected(fmt::format("\"{}\": \"{}\" is only allowed at the end", text_, segment));
  }
  if (std::ranges::find(capture_names_, name) != capture_names_.end()) {
    return tl::unexpected(fmt::format("\"{}\" has two wildcards named \"{}\"", text_, name));
  }
  segments_.push_back({rest ? Kind::kRest : Kind::kOne, {}});
  capture_names_.emplace_back(name);
  return {};
}

bool Pattern::has_rest() const { return segments_.back().kind == Kind::kRest; }

bool Pattern::ends_in_wildcard() const { return has_rest() || segments_.back().kind == Kind::kOne; }

/// True if the path has the right length and the right literals. `fixed`: the segments before a
/// rest or `{$}`.
bool Pattern::takes(const PathSegments& path, std::size_t fixed) const {
  // The rest and `{$}` stand for what comes after a slash, so they need that slash.
  const bool ends_in_slash = segments_.back().kind == Kind::kEnd;
  const bool right_size =
      has_rest() ? path.size() > fixed || (path.size() == fixed && path.trailing_slash())
                 : path.size() == fixed && path.trailing_slash() == ends_in_slash;
  if (!right_size) {
    return false;
  }
  for (std::size_t i = 0; i < fixed; ++i) {
    if (segments_[i].kind == Kind::kLiteral && segments_[i].literal != path[i]) {
      return false;
    }
  }
  return true;
}

bool Pattern::match(const PathSegments& path, Captures& captures) const {
  const bool fixed_length = segments_.back().kind != Kind::kRest;
  const bool ends_in_slash = segments_.back().kind == Kind::kEnd;
  const std::size_t fixed = segments_.size() - (!fixed_length || ends_in_slash ? 1 : 0);
  if (!takes(path, fixed)) {
    return false;
  }
  for (std::size_t i = 0; i < fixed; ++i) {
    if (segments_[i].kind == Kind::kOne) {
      captures.values.push_back(path[i]);
    }
  }
  if (!fixed_length) {
    captures.values.push_back(path.from(fixed));
  }
  if (!captures.values.empty()) {
    name_resource(captures);
  } else if (fixed > 0) {
    captures.resource_name = path[fixed - 1];
  }
  return true;
}

Pattern::Width Pattern::compare(const Segment& first, const Segment& second) {
  if (first.kind == Kind::kRest || second.kind == Kind::kRest) {
    return {.first = second.kind != Kind::kRest, .second = first.kind != Kind::kRest};
  }
  if (first.kind == Kind::kEnd || second.kind == Kind::kEnd) {
    return {.disjoint = first.kind != second.kind};
  }
  if (first.kind == Kind::kOne || second.kind == Kind::kOne) {
    return {.first = second.kind != Kind::kOne, .second = first.kind != Kind::kOne};
  }
  return {.disjoint = first.literal != second.literal};
}

Relation relation(const Pattern& first, const Pattern& second) {
  const std::size_t common = std::min(first.segments_.size(), second.segments_.size());
  bool first_wider = false;
  bool second_wider = false;
  for (std::size_t i = 0; i < common; ++i) {
    const Pattern::Width width = Pattern::compare(first.segments_[i], second.segments_[i]);
    if (width.disjoint) {
      return Relation::kDisjoint;
    }
    first_wider = first_wider || width.first;
    second_wider = second_wider || width.second;
  }
  // Only a rest can reach into what the longer pattern has more.
  if (first.segments_.size() < second.segments_.size()) {
    if (!first.has_rest()) {
      return Relation::kDisjoint;
    }
    first_wider = true;
  } else if (second.segments_.size() < first.segments_.size()) {
    if (!second.has_rest()) {
      return Relation::kDisjoint;
    }
    second_wider = true;
  }
  if (first_wider && second_wider) {
    return Relation::kOverlapping;
  }
  if (first_wider) {
    return Relation::kMoreGeneral;
  }
  return second_wider ? Relation::kMoreSpecific : Relation::kEqual;
}

std::string_view to_string(Relation relation) {
  switch (relation) {
    case Relation::kEqual:
      return "equal";
    case Relation::kMoreSpecific:
      return "more specific";
    case Relation::kMoreGeneral:
      return "more general";
    case Relation::kDisjoint:
      return "disjoint";
    case Relation::kOverlapping:
      return "overlapping";
  }
  return "unknown";
}

}  // namespace fenceline::config
