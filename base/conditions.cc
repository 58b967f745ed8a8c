#include "base/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/http_date.h"

namespace fenceline::base {
namespace {

constexpr std::string_view kAny = "*";

std::string_view skip_blanks(std::string_view text) {
  const auto start = text.find_first_not_of(" \t");
  return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

std::string_view trim(std::string_view text) {
  text = skip_blanks(text);
  const auto last = text.find_last_not_of(" \t");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// Calls `visit` for each tag of a list; false if the text is not a list of at least one tag.
// Empty elements are allowed (RFC 9110, 5.6.1).
template <typename Visit>
bool for_each_tag(std::string_view list, Visit visit) {
  bool any = false;
  for (list = skip_blanks(list); !list.empty(); list = skip_blanks(list)) {
    if (list.front() == ',') {
      list.remove_prefix(1);
      continue;
    }
    const std::size_t length = entity_tag_length(list);
    if (length == 0) {
      return false;
    }
    visit(list.substr(0, length));
    any = true;
    list = skip_blanks(list.substr(length));
    if (!list.empty() && list.front() != ',') {
      return false;
    }
  }
  return any;
}

Result<std::optional<std::string>> take_tags(const RequestHead& head, std::string_view name) {
  auto joined = head.joined(name);
  if (!joined) {
    return std::nullopt;
  }
  std::string list(trim(*joined));
  if (list != kAny && !for_each_tag(list, [](std::string_view) {})) {
    return fail(ErrorKind::kMalformedRequest,
                fmt::format("{} must be \"*\" or a list of quoted entity tags such as \"abc\"; "
                            "send the ETag as it was received, with its quotes",
                            name));
  }
  return list;
}

bool any_tag(const std::string& list, std::string_view etag,
             bool (*match)(std::string_view, std::string_view)) {
  bool found = false;
  for_each_tag(list, [&](std::string_view tag) { found = found || match(tag, etag); });
  return found;
}

std::string_view opaque_part(std::string_view tag) {
  return tag.starts_with("W/") ? tag.substr(2) : tag;
}

bool has_conditions(const RequestHead& head) {
  return std::ranges::any_of(head.fields, [](const Field& field) {
    return field.name.size() > 7 && (field.name[0] | 0x20) == 'i' &&
           (field.name[1] | 0x20) == 'f' && field.name[2] == '-';
  });
}

}  // namespace

std::size_t entity_tag_length(std::string_view text) {
  const std::size_t quote = text.starts_with("W/") ? 2 : 0;
  if (text.size() <= quote || text[quote] != '"') {
    return 0;
  }
  for (std::size_t i = quote + 1; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"') {
      return i + 1;
    }
    if (c <= 0x20 || c == 0x7f) {
      return 0;
    }
  }
  return 0;
}

bool match_strongly(std::string_view left, std::string_view right) {
  return left.starts_with('"') && left == right;
}

bool match_weakly(std::string_view left, std::string_view right) {
  return !left.empty() && opaque_part(left) == opaque_part(right);
}

Result<Conditions> Conditions::parse(const RequestHead& head) {
  Conditions conditions;
  conditions.is_read_ = head.method == Method::kGet || head.method == Method::kHead;
  // Most requests have none; five searches through the fields would be paid by all of them.
  if (!has_conditions(head)) {
    return conditions;
  }
  auto if_match = take_tags(head, "If-Match");
  if (!if_match) {
    return tl::unexpected(if_match.error());
  }
  conditions.if_match_ = std::move(*if_match);
  auto if_none_match = take_tags(head, "If-None-Match");
  if (!if_none_match) {
    return tl::unexpected(if_none_match.error());
  }
  conditions.if_none_match_ = std::move(*if_none_match);

  if (const auto value = head.only("If-Unmodified-Since")) {
    conditions.if_unmodified_since_s_ = parse_http_date(trim(*value));
  }
  if (!conditions.is_read_ && !conditions.if_unmodified_since_s_ &&
      head.count("If-Unmodified-Since") > 0) {
    return fail(ErrorKind::kMalformedRequest,
                "If-Unmodified-Since must be one HTTP date, such as "
                "\"Sun, 06 Nov 1994 08:49:37 GMT\"; the write was not done unguarded");
  }
  if (const auto value = head.only("If-Modified-Since"); value && conditions.is_read_) {
    conditions.if_modified_since_s_ = parse_http_date(trim(*value));
  }
  return conditions;
}

bool Conditions::empty() const {
  return !if_match_ && !if_none_match_ && !if_modified_since_s_ && !if_unmodified_since_s_;
}

bool Conditions::only_existence() const {
  return (!if_match_ || *if_match_ == kAny) && (!if_none_match_ || *if_none_match_ == kAny) &&
         !if_modified_since_s_ && !if_unmodified_since_s_;
}

Verdict Conditions::evaluate(const ResourceState& state) const {
  // Steps 1 and 2: a date counts only where there is no If-Match.
  if (if_match_) {
    const bool matches =
        state.exists && (*if_match_ == kAny || any_tag(*if_match_, state.etag, match_strongly));
    if (!matches) {
      return Verdict::kFailed;
    }
  } else if (if_unmodified_since_s_) {
    const bool unmodified =
        state.exists && state.last_modified_s && *state.last_modified_s <= *if_unmodified_since_s_;
    if (!unmodified) {
      return Verdict::kFailed;
    }
  }
  // Steps 3 and 4, likewise.
  if (if_none_match_) {
    const bool matches = state.exists && (*if_none_match_ == kAny ||
                                          any_tag(*if_none_match_, state.etag, match_weakly));
    if (matches) {
      return is_read_ ? Verdict::kNotModified : Verdict::kFailed;
    }
  } else if (if_modified_since_s_ && state.exists && state.last_modified_s &&
             *state.last_modified_s <= *if_modified_since_s_) {
    return Verdict::kNotModified;
  }
  return Verdict::kProceed;
}

}  // namespace fenceline::base
