#include "backends/s3/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "backends/http/upstream_target.h"
#include "backends/s3/object_name.h"
#include "backends/s3/query.h"
#include "base/aws/query.h"

namespace fenceline::backends::s3 {
namespace {

using base::ErrorKind;
using base::Result;

tl::unexpected<base::Error> refused(ErrorKind kind, std::string_view code, std::string detail) {
  auto error = base::fail(kind, std::move(detail));
  error.value().code = code;
  return error;
}

}  // namespace

Result<void> check_reserved(std::string_view key) {
  if (key.starts_with(kReservedKeyPrefix)) {
    return base::fail(ErrorKind::kForbiddenName,
                      fmt::format("keys that begin with \"{}\" are the proxy's own; use another",
                                  kReservedKeyPrefix));
  }
  return {};
}

std::string Place::target(std::string_view query) const {
  std::string target;
  target.reserve(path.size() + query.size() + 1);
  target.append(path);
  if (!query.empty()) {
    target.append("?").append(query);
  }
  return target;
}

std::string_view bucket_upstream(const S3Options& options, std::string_view bucket) {
  return bucket.empty() || options.bucket.empty() ? bucket : std::string_view(options.bucket);
}

Place place_of(const S3Options& options, std::string_view bucket, std::string_view key) {
  Place place{.host = http::authority_of(options.http.client), .path = "/"};
  if (bucket.empty()) {
    return place;
  }
  if (options.addressing == Addressing::kVirtualHost) {
    place.host.insert(0, std::string(bucket) + ".");
    place.path.append(encode_key(key));
    return place;
  }
  place.path.append(bucket);
  if (!key.empty()) {
    place.path.append("/").append(encode_key(key));
  }
  return place;
}

Result<std::string> query_upstream(std::string_view query) {
  auto parameters = read_query(query);
  if (!parameters) {
    return base::pass_on(parameters.error());
  }
  std::erase_if(*parameters, [](const Parameter& one) { return one.use != QueryUse::kOperation; });
  std::ranges::sort(*parameters, {}, &Parameter::name);
  std::string out;
  for (const Parameter& one : *parameters) {
    out.append(out.empty() ? "" : "&");
    base::aws::append_encoded(out, one.name, true);
    if (!one.value.empty()) {
      out += '=';
      base::aws::append_encoded(out, one.value, true);
    }
  }
  return out;
}

std::string version_in(std::string_view canonical_query) {
  constexpr std::string_view kVersion = "versionId";
  while (!canonical_query.empty()) {
    const std::string_view one = canonical_query.substr(0, canonical_query.find('&'));
    canonical_query.remove_prefix(std::min(canonical_query.size(), one.size() + 1));
    if (one.substr(0, one.find('=')) == kVersion) {
      return std::string(one);
    }
  }
  return {};
}

Result<std::string> copy_source_upstream(const S3Options& options, const S3Request& request,
                                         std::string_view source) {
  auto parsed = parse_copy_source(source);
  if (!parsed) {
    return base::pass_on(parsed.error());
  }
  if (parsed->bucket != request.bucket) {
    return refused(ErrorKind::kMalformedRequest, "InvalidArgument",
                   fmt::format("x-amz-copy-source names the bucket \"{}\", but this route copies "
                               "only within \"{}\"; read the object there and write it here",
                               parsed->bucket, request.bucket));
  }
  std::string out = "/";
  out.append(bucket_upstream(options, parsed->bucket)).append("/").append(encode_key(parsed->key));
  if (!parsed->version.empty()) {
    out.append("?versionId=");
    base::aws::append_encoded(out, parsed->version, true);
  }
  return out;
}

}  // namespace fenceline::backends::s3
