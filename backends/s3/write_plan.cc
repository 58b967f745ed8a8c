#include "backends/s3/write_plan.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "backends/s3/intents.h"
#include "backends/s3/place.h"
#include "backends/s3/request_head.h"
#include "backends/s3/s3_backend.h"

namespace fenceline::backends::s3 {
namespace {

constexpr std::string_view kComplete = "CompleteMultipartUpload";
constexpr std::string_view kDelete = "DeleteObject";

bool names_version(std::string_view query) {
  const auto canonical = query_upstream(query);
  return canonical && !version_in(*canonical).empty();
}

// A version is removed whatever the current one is, so no condition on that one helps.
bool is_conditional(const S3Standing& standing, const ResourceRequest& request) {
  const std::string_view name = request.s3->operation->name;
  if (name == "PutObject") {
    return standing.conditional_put;
  }
  if (name == "CopyObject") {
    return standing.conditional_copy;
  }
  if (name == kComplete) {
    return standing.conditional_complete;
  }
  return name == kDelete && (standing.conditional_delete || standing.tombstones) &&
         !names_version(request.head.query);
}

bool changes_only_metadata(std::string_view name) {
  constexpr std::array<std::string_view, 5> kMetadata = {"PutObjectAcl", "PutObjectLegalHold",
                                                         "PutObjectRetention", "PutObjectTagging",
                                                         "DeleteObjectTagging"};
  return std::ranges::find(kMetadata, name) != kMetadata.end();
}

}  // namespace

WritePlan plan_of(const S3Standing& standing, const ResourceRequest& request) {
  const Operation& operation = *request.s3->operation;
  const bool completes = operation.name == kComplete;
  WritePlan plan{.conditional = is_conditional(standing, request),
                 .puts = operation.name == "PutObject",
                 .deletes = operation.name == kDelete,
                 .stamps = sets_metadata(request) && operation.effect != Effect::kStage,
                 .tags = standing.tags,
                 .tags_repeat = standing.tags_repeat,
                 .tags_are_md5 = standing.tags_are_md5};
  plan.buries = plan.conditional && plan.deletes && standing.tombstones;
  plan.stamps = plan.stamps || plan.buries;
  plan.is_proven = plan.conditional && standing.put_proven;
  plan.leaves_content = operation.effect == Effect::kStage || changes_only_metadata(operation.name);
  plan.hides_errors = completes || request.head.count("x-amz-copy-source") > 0;
  plan.pins_state = plan.is_proven && !(completes && standing.abort_is_final);
  return plan;
}

std::optional<base::aws::AwsChunkedFrames> frames_of(const S3Options& options,
                                                     const S3Standing& standing,
                                                     const S3Request& request) {
  const std::string_view name = request.operation->name;
  const bool was_probed = name == "PutObject" || name == "UploadPart";
  if (!standing.takes_trailers || !was_probed || request.body == nullptr) {
    return std::nullopt;
  }
  const auto bytes = request.body->declared_bytes();
  const auto trailer = request.body->trailer();
  if (!trailer || !bytes || *bytes <= options.hold_bytes) {
    return std::nullopt;
  }
  return base::aws::AwsChunkedFrames(*bytes, *trailer);
}

std::optional<WriteIntent> intent_of(const S3Upstream& upstream, const S3Standing& standing,
                                     const ResourceRequest& request, const WritePlan& plan,
                                     const ObjectState& seen) {
  const Operation& operation = *request.s3->operation;
  if (operation.effect == Effect::kStage || plan.sends_nothing(seen)) {
    return std::nullopt;
  }
  const std::string& origin = upstream.http->origin;
  if (operation.name == kComplete && standing.abort_is_final) {
    return upload_intent(upstream.options, origin, request);
  }
  return plan.pins_state ? state_intent(upstream.options, origin, request, seen)
                         : settled_by_rule();
}

}  // namespace fenceline::backends::s3
