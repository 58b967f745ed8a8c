#include "proxy/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/fence_key.h"
#include "proxy/uri_syntax.h"

namespace fenceline::proxy {
namespace {

using base::ErrorKind;

constexpr std::size_t kMaxSegmentBytes = 255;

tl::unexpected<base::Error> refuse(std::string detail) {
  return base::fail(ErrorKind::kMalformedRequest, std::move(detail));
}

int hex_value(char c) {
  if (c <= '9') {
    return c - '0';
  }
  return (c | 0x20) - 'a' + 10;
}

bool is_forbidden_in_segment(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  return byte < 0x20 || byte == 0x7F || c == '/' || c == '\\';
}

base::Result<std::string> decode_segment(std::string_view raw, std::size_t number) {
  base::Result<std::string> decoded = std::string(raw);
  if (raw.find('%') != std::string_view::npos) {
    decoded = percent_decode(raw, fmt::format("path segment {}", number));
  }
  if (!decoded) {
    return decoded;
  }
  if (decoded->empty()) {
    return refuse(
        fmt::format("Path segment {} is empty. Send one `/` between two segments.", number));
  }
  if (*decoded == "." || *decoded == "..") {
    return refuse(fmt::format("Path segment {} is `{}`. Send the path that it stands for.", number,
                              *decoded));
  }
  const auto bad = std::ranges::find_if(*decoded, is_forbidden_in_segment);
  if (bad != decoded->end()) {
    return refuse(fmt::format(
        "Path segment {} has the byte 0x{:02x}, plain or percent-encoded. Slashes, backslashes and "
        "control bytes are not allowed in a name.",
        number, static_cast<unsigned>(static_cast<std::uint8_t>(*bad))));
  }
  if (!base::is_valid_utf8(*decoded)) {
    return refuse(fmt::format("Path segment {} is not valid UTF-8.", number));
  }
  if (decoded->size() > kMaxSegmentBytes) {
    return base::fail(ErrorKind::kTargetTooLong,
                      fmt::format("Path segment {} has {} bytes; at most {} are allowed. Use a "
                                  "shorter name.",
                                  number, decoded->size(), kMaxSegmentBytes));
  }
  return decoded;
}

}  // namespace

base::Result<std::string> percent_decode(std::string_view text, std::string_view what) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size() || !is_hex_digit(text[i + 1]) || !is_hex_digit(text[i + 2])) {
      return refuse(
          fmt::format("The {} has a `%` that two hexadecimal digits do not follow, at "
                      "offset {}. Send a percent sign as `%25`.",
                      what, i));
    }
    decoded += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
    i += 2;
  }
  return decoded;
}

base::Result<Target> decode_path(std::string_view path) {
  if (!path.starts_with('/')) {
    return refuse("The path does not start with `/`.");
  }
  Target target;
  std::string_view rest = path.substr(1);
  target.trailing_slash = path.ends_with('/');
  if (rest.empty()) {
    return target;
  }
  if (target.trailing_slash) {
    rest.remove_suffix(1);
  }
  for (bool more = true; more;) {
    const std::size_t slash = rest.find('/');
    more = slash != std::string_view::npos;
    base::Result<std::string> segment =
        decode_segment(rest.substr(0, slash), target.segments.size() + 1);
    if (!segment) {
      return tl::unexpected<base::Error>(std::move(segment.error()));
    }
    target.segments.push_back(std::move(*segment));
    rest = more ? rest.substr(slash + 1) : std::string_view();
  }
  return target;
}

base::Result<std::optional<std::string>> query_parameter(std::string_view query,
                                                         std::string_view name) {
  std::optional<std::string> found;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    // The name is decoded too: otherwise `l%69mit` would be a second `limit` that is not counted.
    const base::Result<std::string> key = percent_decode(pair.substr(0, equals), "query");
    if (!key) {
      return tl::unexpected<base::Error>(key.error());
    }
    if (*key != name) {
      continue;
    }
    if (found) {
      return refuse(
          fmt::format("The query parameter `{}` is there more than once. Send it once.", name));
    }
    base::Result<std::string> value =
        percent_decode(pair.substr(std::min(equals + 1, pair.size())), "query");
    if (!value) {
      return tl::unexpected<base::Error>(std::move(value.error()));
    }
    if (!base::is_valid_utf8(*value)) {
      return refuse(fmt::format("The query parameter `{}` is not valid UTF-8.", name));
    }
    found = std::move(*value);
  }
  return found;
}

}  // namespace fenceline::proxy
