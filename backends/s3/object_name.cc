#include "backends/s3/object_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/aws/query.h"
#include "base/fence_key.h"

namespace fenceline::backends::s3 {
namespace {

constexpr std::size_t kMinBucketBytes = 3;
constexpr std::size_t kMaxBucketBytes = 63;
constexpr std::string_view kVersionId = "versionId=";

tl::unexpected<base::Error> refuse(std::string detail, std::string_view code) {
  return tl::unexpected(base::Error{
      .kind = base::ErrorKind::kMalformedRequest, .detail = std::move(detail), .code = code});
}

tl::unexpected<base::Error> refuse_source(std::string detail) {
  return refuse("x-amz-copy-source " + std::move(detail), "InvalidArgument");
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || is_digit(c); }

/// Four numbers with dots: a host that a client would not look up by name.
bool looks_like_ipv4(std::string_view name) {
  return std::ranges::count(name, '.') == 3 &&
         std::ranges::all_of(name, [](char c) { return is_digit(c) || c == '.'; });
}

}  // namespace

base::Result<void> check_key(std::string_view key) {
  if (key.empty()) {
    return refuse("The object key is empty.", "InvalidURI");
  }
  if (key.size() > kMaxKeyBytes) {
    return refuse(fmt::format("The object key has {} bytes; at most {} are allowed.", key.size(),
                              kMaxKeyBytes),
                  "KeyTooLongError");
  }
  if (base::has_control_byte(key)) {
    return refuse("The object key has a control character.", "InvalidURI");
  }
  if (!base::is_valid_utf8(key)) {
    return refuse("The object key is not valid UTF-8.", "InvalidURI");
  }
  return {};
}

base::Result<std::string> decode_key(std::string_view raw) {
  auto key = base::aws::percent_decoded(raw);
  if (!key) {
    return refuse("A `%` in the object key is not followed by two hexadecimal digits.",
                  "InvalidURI");
  }
  if (auto checked = check_key(*key); !checked) {
    return base::pass_on(checked.error());
  }
  return *std::move(key);
}

std::string encode_key(std::string_view key) {
  std::string raw;
  raw.reserve(key.size());
  base::aws::append_encoded(raw, key, false);
  return raw;
}

bool is_bucket_name(std::string_view name) {
  return name.size() >= kMinBucketBytes && name.size() <= kMaxBucketBytes &&
         std::ranges::all_of(name,
                             [](char c) { return is_lower_or_digit(c) || c == '-' || c == '.'; }) &&
         is_lower_or_digit(name.front()) && is_lower_or_digit(name.back()) &&
         name.find("..") == name.npos && !looks_like_ipv4(name);
}

base::Result<CopySource> parse_copy_source(std::string_view text) {
  if (text.find('+') != text.npos) {
    return refuse_source("has a bare `+`. Write %2B for a plus and %20 for a blank.");
  }
  const std::size_t question = std::min(text.find('?'), text.size());
  const auto path = base::aws::percent_decoded(text.substr(0, question));
  const std::string_view query = text.substr(std::min(question + 1, text.size()));
  auto version = query.starts_with(kVersionId)
                     ? base::aws::percent_decoded(query.substr(kVersionId.size()))
                     : std::optional<std::string>("");
  if (!path || !version) {
    return refuse_source("has a `%` without two hexadecimal digits.");
  }
  if (question < text.size() &&
      (version->empty() || query.find('&') != query.npos || base::has_control_byte(*version) ||
       !base::is_valid_utf8(*version))) {
    return refuse_source("has a query that is not `versionId=…`. Write %3F for a `?` of the key.");
  }
  const std::string_view names = std::string_view(*path).substr(path->starts_with('/') ? 1 : 0);
  const std::size_t slash = std::min(names.find('/'), names.size());
  const std::string_view key = names.substr(std::min(slash + 1, names.size()));
  if (!is_bucket_name(names.substr(0, slash))) {
    return refuse_source("does not begin with the name of a bucket: write `bucket/key`.");
  }
  if (auto checked = check_key(key); !checked) {
    return refuse_source("names no object: " + checked.error().detail);
  }
  return CopySource{.bucket = std::string(names.substr(0, slash)),
                    .key = std::string(key),
                    .version = *std::move(version)};
}

}  // namespace fenceline::backends::s3
