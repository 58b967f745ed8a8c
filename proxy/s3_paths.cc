#include "proxy/s3_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/s3/object_name.h"
#include "base/field_syntax.h"
#include "proxy/target.h"

namespace fenceline::proxy {
namespace {

using backends::s3::Level;

/// Takes the first segment off `rest`, which begins with a slash or is empty.
std::string_view take_segment(std::string_view& rest) {
  rest.remove_prefix(1);
  const std::size_t end = std::min(rest.find('/'), rest.size());
  const std::string_view segment = rest.substr(0, end);
  rest.remove_prefix(end);
  return segment;
}

bool names(std::string_view raw, std::string_view literal) {
  if (raw == literal) {
    return true;
  }
  const auto decoded = percent_decode(raw, "path");
  return decoded && *decoded == literal;
}

std::string_view without_port(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos &&
                        host.find_first_not_of("0123456789", colon + 1) == std::string_view::npos;
  return has_port ? host.substr(0, colon) : host;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) { return base::ascii_lower(c); });
  return result;
}

}  // namespace

S3Paths::S3Paths(const config::Pattern& pattern, std::vector<std::string> hosts)
    : hosts_(std::move(hosts)) {
  std::string_view rest = pattern.text();
  while (!rest.empty()) {
    const std::string_view segment = take_segment(rest);
    if (segment == "{bucket}") {
      any_bucket_ = true;
    } else if (!segment.starts_with('{')) {
      literals_.emplace_back(segment);
    }
  }
}

S3Place S3Paths::place_in(std::string bucket, std::string_view rest) {
  if (rest.size() <= 1) {
    return {.level = Level::kBucket, .bucket = std::move(bucket), .raw_key = {}};
  }
  return {.level = Level::kObject, .bucket = std::move(bucket), .raw_key = rest.substr(1)};
}

base::Result<std::optional<S3Place>> S3Paths::by_path(std::string_view path) const {
  std::string_view rest = path;
  for (const std::string& literal : literals_) {
    if (!rest.starts_with('/') || !names(take_segment(rest), literal)) {
      return std::nullopt;
    }
  }
  if (!any_bucket_) {
    return place_in(literals_.back(), rest);
  }
  if (rest.size() <= 1) {
    return S3Place{};
  }
  const auto bucket = percent_decode(take_segment(rest), "bucket");
  if (!bucket || !backends::s3::is_bucket_name(*bucket)) {
    auto refusal = base::fail(base::ErrorKind::kMalformedRequest,
                              "The first part of the path is not the name of a bucket: 3 to 63 "
                              "lower-case letters, digits, dots and hyphens.");
    refusal.value().code = "InvalidBucketName";
    return refusal;
  }
  return place_in(*bucket, rest);
}

std::optional<S3Place> S3Paths::by_host(std::string_view host, std::string_view path) const {
  const std::string named = lower(without_port(host));
  for (const std::string& parent : hosts_) {
    const bool below = named.size() > parent.size() + 1 && named.ends_with(parent) &&
                       named[named.size() - parent.size() - 1] == '.';
    if (!below) {
      continue;
    }
    std::string bucket = named.substr(0, named.size() - parent.size() - 1);
    const bool ours =
        any_bucket_ ? backends::s3::is_bucket_name(bucket) : bucket == literals_.back();
    if (ours) {
      return place_in(std::move(bucket), path);
    }
  }
  return std::nullopt;
}

bool S3Paths::before(const S3Paths& other) const {
  return literals_.size() != other.literals_.size() ? literals_.size() > other.literals_.size()
                                                    : !any_bucket_ && other.any_bucket_;
}

}  // namespace fenceline::proxy
