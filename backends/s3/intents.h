#pragma once

// What is on record of a write to an S3 server, so that newer tokens can settle it. All of it is
// pure.

#include <optional>
#include <string>
#include <string_view>

#include "backends/backend.h"
#include "backends/s3/client_conditions.h"
#include "backends/s3/place.h"
#include "backends/s3/s3_options.h"

namespace fenceline::backends::s3 {

/// The one name of an object in intents: `/bucket/key`, as the upstream calls the bucket, the key
/// percent-encoded; whatever the addressing.
std::string object_target(const S3Options& options, const S3Request& request);

/// Where such an object is.
Place place_of_target(const S3Options& options, std::string_view target);

/// Of a write about which the settle rule decides: one for all of them.
WriteIntent settled_by_rule();

/// Of a write under the condition that the object is as it was seen: it waits for that state
/// (backends/http/burned.h). By the settle rule if the record has no room for that.
WriteIntent state_intent(const S3Options& options, std::string_view origin,
                         const ResourceRequest& request, const ObjectState& seen);

/// Of a CompleteMultipartUpload: which upload it is, so that it can be ended. By the settle rule if
/// the record has no room for that.
WriteIntent upload_intent(const S3Options& options, std::string_view origin,
                          const ResourceRequest& request);

/// An upload on record.
struct UploadOnRecord {
  std::string origin;
  std::string target;  ///< Of its object.
  std::string query;   ///< With its id.
};

/// Nothing for what was not made by `upload_intent`.
std::optional<UploadOnRecord> decode_upload(std::string_view data);

}  // namespace fenceline::backends::s3
