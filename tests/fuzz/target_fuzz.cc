// Targets: a path is decoded once, and every spelling of one name gives that name. The input is
// path and query, with `?` between.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fence_key.h"
#include "config/pattern.h"
#include "proxy/target.h"
#include "tests/fuzz/check.h"

namespace fenceline::fuzz {
namespace {

using Segments = std::vector<std::string>;

/// `text` in percent-encoding: every byte for which `keep` is false.
template <typename Keep>
std::string encoded(std::string_view text, Keep keep) {
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  std::string out;
  bool upper = false;
  for (const char c : text) {
    if (keep(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    const auto digit = [&](unsigned value) {
      return kHex[value < 10 || !upper ? value : value + 6];
    };
    out += {'%', digit(byte >> 4U), digit(byte & 15U)};
    upper = !upper;  // both cases are the same byte
  }
  return out;
}

std::string fully_encoded(std::string_view text) {
  return encoded(text, [](char) { return false; });
}

/// The rule for `percent_decode` once more.
bool is_well_encoded(std::string_view text) {
  const auto hex = [&text](std::size_t i) {
    return i < text.size() &&
           std::string_view("0123456789abcdefABCDEF").find(text[i]) != std::string_view::npos;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && !(hex(i + 1) && hex(i + 2))) {
      return false;
    }
  }
  return true;
}

std::optional<Segments> decoded(std::string_view path) {
  proxy::Target target;
  const auto result = proxy::decode_path(path, target);
  if (!result) {
    check(!result.error().detail.empty(), "a refused path has a reason", path);
    return std::nullopt;
  }
  check(target.segments.trailing_slash() == path.ends_with('/'), "a last slash is seen", path);
  return Segments(target.segments.begin(), target.segments.end());
}

void check_percent(std::string_view text) {
  const auto plain = proxy::percent_decode(text, "input");
  check(plain.has_value() == is_well_encoded(text), "exactly whole encodings are decoded", text);
  if (plain) {
    check(proxy::percent_decode(fully_encoded(*plain), "input").value_or("") == *plain,
          "what is encoded is decoded to the same bytes", text);
  }
}

void check_segment(std::string_view segment, std::string_view path) {
  check(!segment.empty() && segment != "." && segment != "..", "no empty or dot segment", path);
  check(segment.size() <= 255, "a segment has at most 255 bytes", path);
  check(segment.find_first_of("/\\") == segment.npos, "no slash or backslash in a name", path);
  check(!base::has_control_byte(segment) && base::is_valid_utf8(segment),
        "a name is UTF-8 without control bytes", path);
}

/// The one name of a resource: the route's pattern, the key and the backend see nothing else.
void check_names(std::string_view path, const Segments& segments) {
  static const config::Pattern everything = *config::Pattern::parse("/{rest...}");
  static const config::Pattern two = *config::Pattern::parse("/{first}/{second}");
  static const config::Pattern split = *config::Pattern::parse("/{first}/b/{rest...}");
  std::string joined;
  for (const std::string& segment : segments) {
    joined += joined.empty() ? segment : "/" + segment;
  }
  proxy::Target target;
  check(proxy::decode_path(path, target).has_value(), "decoding twice gives the same", path);
  config::Captures rest;
  check(everything.match(target.segments, rest) && rest.resource_name == joined &&
            rest.values.size() == 1 && rest.values[0] == joined,
        "the rest is the segments, joined", path);
  config::Captures pair;
  const bool is_pair = segments.size() == 2 && !path.ends_with('/');
  check(two.match(target.segments, pair) == is_pair, "two wildcards take two segments", path);
  check(!is_pair || (pair.values[0] == segments[0] && pair.values[1] == segments[1] &&
                     pair.resource_name == joined),
        "a wildcard takes one segment", path);
  config::Captures parts;
  if (split.match(target.segments, parts)) {
    check(segments.size() >= 2 && segments[1] == "b" && parts.values.size() == 2 &&
              parts.values[0] == segments[0],
          "a literal takes itself", path);
  }
}

void check_path(std::string_view path) {
  const auto segments = decoded(path);
  if (!segments) {
    return;
  }
  std::string other = "/";
  for (const std::string& segment : *segments) {
    check_segment(segment, path);
    other += fully_encoded(segment) + "/";
  }
  if (!path.ends_with('/')) {
    other.pop_back();
  }
  check(decoded(other) == segments, "every spelling of a name gives that name", path);
  const std::string mixed = encoded(other, [](char c) { return c != '%'; });
  const auto once = decoded(mixed);
  check(segments->empty() || !once || *once != *segments, "decoded once and never again", path);
  check_names(path, *segments);
}

void check_query(std::string_view query) {
  // The rule once more: parameters by name, without decoding.
  std::map<std::string_view, std::vector<std::string_view>> values;
  for (std::string_view rest = query; !rest.empty();) {
    std::string_view value = take_until(rest, '&');
    const std::string_view name = take_until(value, '=');
    values[name].push_back(value);
  }
  for (const auto& [name, texts] : values) {
    if (name.empty() || name.find('%') != name.npos || texts.size() > 1) {
      continue;
    }
    const auto value = proxy::query_parameter(query, name);
    check(!value || (*value && fully_encoded(**value) ==
                                   fully_encoded(*proxy::percent_decode(texts.front(), "value"))),
          "a parameter has the value that was sent, decoded once", query);
  }
  const std::string whole = "x=" + fully_encoded(query);
  const auto back = proxy::query_parameter(whole, "x");
  check(back.has_value() == base::is_valid_utf8(query) && (!back || *back == query),
        "exactly the values in UTF-8 can be sent", query);
  const auto twice = proxy::query_parameter(whole + "&x=1", "x");
  check(!twice, "a parameter that is there twice is refused", query);
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view query = fenceline::fuzz::as_text(data, size);
  const std::string_view path = fenceline::fuzz::take_until(query, '?');
  fenceline::fuzz::check_percent(path);
  fenceline::fuzz::check_path(path);
  fenceline::fuzz::check_query(query);
  return 0;
}
