#include "config/fence_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fenceline::config {
namespace {

std::optional<std::string> problem_with_text(std::string_view text) {
  if (text.empty()) {
    return "the fence is empty; leave the key out for one fence per resource";
  }
  if (text.size() > base::FenceKey::kMaxBytes) {
    return fmt::format("the fence has {} bytes; at most {} are allowed", text.size(),
                       base::FenceKey::kMaxBytes);
  }
  if (base::has_control_byte(text) || !base::is_valid_utf8(text)) {
    return "the fence has a control byte or is not valid UTF-8";
  }
  if (text.front() == '/' || text.back() == '/') {
    return fmt::format("\"{}\" must not start or end with \"/\"; a fence is a name, not a path",
                       text);
  }
  return std::nullopt;
}

/// One segment must be more than dots, and have at most one capture: of `{a}-{b}` nobody can tell
/// where the first ends, so two resources could share a fence by accident.
std::optional<std::string> problem_with_segment(std::string_view text, std::string_view segment) {
  if (segment.empty() || segment == "." || segment == "..") {
    return fmt::format("\"{}\" has the segment \"{}\"; segments are not empty, \".\" or \"..\"",
                       text, segment);
  }
  if (std::ranges::count(segment, '{') > 1) {
    return fmt::format(
        "\"{}\": \"{}\" has two captures without a \"/\" between them, so two resources could get "
        "one key by accident; put a \"/\" between them",
        text, segment);
  }
  return std::nullopt;
}

}  // namespace

Parsed<FenceTemplate> FenceTemplate::parse(std::string_view text, const Pattern& pattern) {
  if (auto problem = problem_with_text(text)) {
    return tl::unexpected(std::move(*problem));
  }
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t slash = rest.find('/');
    if (auto problem = problem_with_segment(text, rest.substr(0, slash))) {
      return tl::unexpected(std::move(*problem));
    }
    rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
  }
  FenceTemplate made(text);
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t open = rest.find_first_of("{}");
    made.add_literal(rest.substr(0, open));
    if (open == std::string_view::npos) {
      break;
    }
    const std::size_t close = rest.find_first_of("{}", open + 1);
    if (rest[open] == '}' || close == std::string_view::npos || rest[close] == '{') {
      return tl::unexpected(fmt::format("\"{}\" has a brace without its partner", text));
    }
    if (auto added = made.add_capture(rest.substr(open + 1, close - open - 1), pattern); !added) {
      return tl::unexpected(std::move(added.error()));
    }
    rest.remove_prefix(close + 1);
    if (!rest.empty() && made.parts_.back().what + 1 == pattern.capture_names().size() &&
        pattern.has_rest()) {
      return tl::unexpected(
          fmt::format("\"{}\" has text after the rest of the path; the rest ends a fence", text));
    }
  }
  if (made.parts_.front().what != kLiteral && made.parts_.size() == 1 && pattern.has_rest() &&
      made.parts_.front().what + 1 == pattern.capture_names().size()) {
    return tl::unexpected(fmt::format(
        "\"{}\" would be empty for the root of the route; put a name before it, as in \"x/{}\"",
        text, text));
  }
  const std::size_t rest = pattern.capture_names().size() - 1;  // If there is one.
  made.covers_below_ =
      pattern.has_rest() &&
      std::ranges::none_of(made.parts_, [rest](const Part& part) { return part.what == rest; });
  return made;
}

FenceTemplate FenceTemplate::per_resource(std::string_view route_name) {
  FenceTemplate made(fmt::format("{}/<resource>", route_name));
  made.add_literal(fmt::format("{}/", route_name));
  made.parts_.push_back({kResource, {}});
  return made;
}

void FenceTemplate::add_literal(std::string_view literal) {
  if (!literal.empty()) {
    parts_.push_back({kLiteral, std::string(literal)});
  }
}

Parsed<void> FenceTemplate::add_capture(std::string_view written, const Pattern& pattern) {
  const bool rest = written.ends_with("...");
  const std::string_view name = rest ? written.substr(0, written.size() - 3) : written;
  const std::vector<std::string>& names = pattern.capture_names();
  const auto found = std::ranges::find(names, name);
  if (name.empty() || found == names.end()) {
    std::vector<std::string_view> known;
    std::ranges::copy_if(names, std::back_inserter(known),
                         [](const std::string& n) { return !n.empty(); });
    return tl::unexpected(
        fmt::format("\"{}\" names \"{{{}}}\", which the match \"{}\" does not "
                    "capture; it captures {}",
                    text_, written, pattern.text(),
                    known.empty() ? "nothing" : fmt::format("{}", fmt::join(known, ", "))));
  }
  const auto index = static_cast<std::size_t>(found - names.begin());
  const bool is_rest = pattern.has_rest() && index + 1 == names.size();
  if (rest != is_rest) {
    return tl::unexpected(fmt::format("\"{}\": write \"{{{}{}}}\", as the match does", text_, name,
                                      is_rest ? "..." : ""));
  }
  parts_.push_back({index, {}});
  return {};
}

base::Result<base::FenceKey> FenceTemplate::key(const Captures& captures) const {
  const auto text_of = [&captures](const Part& part) -> std::string_view {
    return part.what == kLiteral    ? std::string_view(part.literal)
           : part.what == kResource ? captures.resource_name
                                    : captures.values[part.what];
  };
  std::size_t bytes = 0;
  for (const Part& part : parts_) {
    bytes += text_of(part).size();
  }
  std::string text;
  text.reserve(bytes);
  for (const Part& part : parts_) {
    text += text_of(part);
  }
  if (text.ends_with('/')) {
    text.pop_back();
  }
  return base::FenceKey::parse(std::move(text));
}

bool FenceTemplate::tells_last_segment(const Pattern& pattern) const {
  const std::size_t captures = pattern.capture_names().size();
  return pattern.ends_in_wildcard() && std::ranges::any_of(parts_, [captures](const Part& part) {
           return part.what == kResource || part.what + 1 == captures;
         });
}

std::vector<FenceTemplate::Part> FenceTemplate::normal_form(const Pattern& pattern) const {
  // All captures in their order, joined by slashes, are the resource name.
  const std::size_t count = pattern.capture_names().size();
  const std::size_t tail = count == 0 ? 0 : 2 * count - 1;
  if (tail == 0 || parts_.size() < tail) {
    return parts_;
  }
  const std::size_t start = parts_.size() - tail;
  for (std::size_t i = 0; i < tail; ++i) {
    const Part wanted = i % 2 == 0 ? Part{i / 2, {}} : Part{kLiteral, "/"};
    if (parts_[start + i] != wanted) {
      return parts_;
    }
  }
  std::vector<Part> shorter(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(start));
  shorter.push_back({kResource, {}});
  return shorter;
}

bool FenceTemplate::same_keys(const FenceTemplate& first, const Pattern& first_pattern,
                              const FenceTemplate& second, const Pattern& second_pattern) {
  const std::vector<Part> parts = first.normal_form(first_pattern);
  if (parts != second.normal_form(second_pattern)) {
    return false;
  }
  // Numbered captures mean the same part of a resource name only if both patterns cut names alike.
  const bool by_number = std::ranges::any_of(
      parts, [](const Part& part) { return part.what != kLiteral && part.what != kResource; });
  return !by_number ||
         (first_pattern.capture_names().size() == second_pattern.capture_names().size() &&
          first_pattern.has_rest() == second_pattern.has_rest());
}

}  // namespace fenceline::config
