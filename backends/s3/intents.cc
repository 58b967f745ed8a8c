#include "backends/s3/intents.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "backends/http/burned.h"
#include "backends/http/upstream_target.h"
#include "backends/s3/object_name.h"
#include "backends/s3/s3_backend.h"

namespace fenceline::backends::s3 {
namespace {

using http::IntentTarget;

constexpr std::string_view kUpload = "upload ";
constexpr std::size_t kMaxDataBytes = 2'000;

WriteIntent one_write(std::string data) {
  return data.size() <= kMaxDataBytes ? WriteIntent{.data = std::move(data), .shared = false}
                                      : settled_by_rule();
}

}  // namespace

std::string object_target(const S3Options& options, const S3Request& request) {
  std::string target = "/";
  target.append(bucket_upstream(options, request.bucket)).append("/");
  return target.append(encode_key(request.key));
}

Place place_of_target(const S3Options& options, std::string_view target) {
  const std::size_t slash = std::min(target.find('/', 1), target.size());
  Place place = place_of(options, target.substr(1, slash - 1), {});
  if (options.addressing == Addressing::kPath) {
    place.path = target;
  } else {
    place.path = target.substr(slash);
  }
  return place;
}

WriteIntent settled_by_rule() { return {.data = {}, .shared = true}; }

WriteIntent state_intent(const S3Options& options, std::string_view origin,
                         const ResourceRequest& request, const ObjectState& seen) {
  if (seen.exists && !http::can_be_burned(seen.etag)) {
    return settled_by_rule();
  }
  const IntentTarget intent{
      .kind = seen.exists ? IntentTarget::Kind::kReturning : IntentTarget::Kind::kCreation,
      .origin = std::string(origin),
      .target = object_target(options, *request.s3),
      .etag = seen.etag};
  return one_write(http::encode_intent(intent));
}

WriteIntent upload_intent(const S3Options& options, std::string_view origin,
                          const ResourceRequest& request) {
  const auto query = query_upstream(request.head.query);
  if (!query) {
    return settled_by_rule();
  }
  return one_write(
      fmt::format("{}{} {} {}", kUpload, origin, object_target(options, *request.s3), *query));
}

std::optional<UploadOnRecord> decode_upload(std::string_view data) {
  if (!data.starts_with(kUpload)) {
    return std::nullopt;
  }
  data.remove_prefix(kUpload.size());
  const std::size_t first = data.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : data.find(' ', first + 1);
  if (second == std::string_view::npos || data[first + 1] != '/') {
    return std::nullopt;
  }
  return UploadOnRecord{.origin = std::string(data.substr(0, first)),
                        .target = std::string(data.substr(first + 1, second - first - 1)),
                        .query = std::string(data.substr(second + 1))};
}

}  // namespace fenceline::backends::s3
