#include "proxy/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "base/digits.h"
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

/// What a byte means for a segment; most mean nothing.
constexpr std::uint8_t kForbidden = 1;
constexpr std::uint8_t kNotAscii = 2;

constexpr std::array<std::uint8_t, 256> kKinds = [] {
  std::array<std::uint8_t, 256> kinds{};
  for (std::size_t byte = 0; byte < kinds.size(); ++byte) {
    const auto c = static_cast<char>(byte);
    const bool forbidden = base::is_control(c) || c == '/' || c == '\\';
    kinds.at(byte) = forbidden ? kForbidden : byte >= 0x80 ? kNotAscii : 0;
  }
  return kinds;
}();

std::uint8_t kind_of(char c) { return kKinds[static_cast<std::uint8_t>(c)]; }

std::uint8_t kinds_in(std::string_view segment) {
  std::uint8_t kinds = 0;
  for (const char c : segment) {
    kinds |= kind_of(c);
  }
  return kinds;
}

base::Result<void> check_segment(std::string_view segment, std::size_t number) {
  if (segment.empty()) {
    return refuse(
        fmt::format("Path segment {} is empty. Send one `/` between two segments.", number));
  }
  if (segment == "." || segment == "..") {
    return refuse(
        fmt::format("Path segment {} is `{}`. Send the path that it stands for.", number, segment));
  }
  const std::uint8_t kinds = kinds_in(segment);
  if ((kinds & kForbidden) != 0) {
    const auto bad = std::ranges::find_if(segment, [](char c) { return kind_of(c) == kForbidden; });
    return refuse(fmt::format(
        "Path segment {} has the byte 0x{:02x}, plain or percent-encoded. Slashes, backslashes and "
        "control bytes are not allowed in a name.",
        number, static_cast<unsigned>(static_cast<std::uint8_t>(*bad))));
  }
  if ((kinds & kNotAscii) != 0 && !base::is_valid_utf8(segment)) {
    return refuse(fmt::format("Path segment {} is not valid UTF-8.", number));
  }
  if (segment.size() > kMaxSegmentBytes) {
    return base::fail(ErrorKind::kTargetTooLong,
                      fmt::format("Path segment {} has {} bytes; at most {} are allowed. Use a "
                                  "shorter name.",
                                  number, segment.size(), kMaxSegmentBytes));
  }
  return {};
}

/// Decodes each segment of `raw` into `decoded`. Checked one by one before they are joined, so that
/// no slash is taken for one that was encoded.
base::Result<void> decode_segments(const config::PathSegments& raw, std::string& decoded) {
  std::size_t number = 0;
  for (const std::string_view segment : raw) {
    ++number;
    const base::Result<std::string> plain =
        percent_decode(segment, fmt::format("path segment {}", number));
    if (!plain) {
      return tl::unexpected<base::Error>(plain.error());
    }
    if (auto checked = check_segment(*plain, number); !checked) {
      return checked;
    }
    decoded.append(number > 1 ? "/" : "").append(*plain);
  }
  return {};
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
    if (i + 2 >= text.size() || !base::is_hex_digit(text[i + 1]) ||
        !base::is_hex_digit(text[i + 2])) {
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

base::Result<void> decode_path(std::string_view path, Target& target) {
  if (!path.starts_with('/')) {
    return refuse("The path does not start with `/`.");
  }
  const bool trailing_slash = path.ends_with('/');
  std::string_view text = path.substr(1);
  if (text.ends_with('/')) {
    text.remove_suffix(1);
    if (text.empty() || text.ends_with('/')) {
      return check_segment({}, 1 + static_cast<std::size_t>(std::ranges::count(text, '/')));
    }
  }
  target.segments = config::PathSegments(text, trailing_slash);
  if (text.find('%') != std::string_view::npos) {
    if (auto decoded = decode_segments(target.segments, target.decoded); !decoded) {
      return decoded;
    }
    target.segments = config::PathSegments(target.decoded, trailing_slash);
    return {};
  }
  std::size_t number = 0;
  for (const std::string_view segment : target.segments) {
    if (auto checked = check_segment(segment, ++number); !checked) {
      return checked;
    }
  }
  return {};
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
