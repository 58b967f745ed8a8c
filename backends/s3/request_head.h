#pragma once

// The head of a request to the upstream, all but its signature. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "backends/backend.h"
#include "backends/http/send.h"
#include "backends/s3/place.h"
#include "backends/s3/s3_options.h"
#include "base/aws/aws_chunked_frames.h"
#include "base/error.h"
#include "base/stamp.h"

namespace fenceline::backends::s3 {

/// True for operations that set the metadata of an object, so that the stamp goes with them:
/// PutObject, CreateMultipartUpload, and CopyObject that replaces metadata.
bool sets_metadata(const ResourceRequest& request);

/// True if the client has said in which state the source of its copy has to be.
bool has_source_condition(const base::RequestHead& head);

/// What is sent beside what the client has sent. Views outlive the call.
struct HeadParts {
  bool takes_conditions = true;  ///< False: the client's `If-Match` and `If-None-Match` stay here.
  std::string_view if_match = {};
  std::string_view if_none_match = {};
  /// Of the source of a copy. Left out where the client has a condition of its own on that.
  std::string_view copy_source_if_match = {};
  const base::Stamp* stamp = nullptr;  ///< Null: none is kept.
  /// How the body goes upstream where its checksum comes behind it; nothing: as it is.
  std::optional<base::aws::AwsChunkedFrames> frames = {};
};

/// Makes the head of the request that `request` is to the upstream.
/// Does: leaves out who the client was and how the body was wrapped (`Authorization`,
/// `x-amz-content-sha256`, `aws-chunked`, …) and any stamp the client made up (`is_stamp`); names
/// the bucket as the upstream does; adds the checksum of the body where it is known by now.
/// Failure: `kMalformedRequest` for a query, a copy source or a field that cannot be sent.
base::Result<http::Outgoing> head_upstream(const S3Options& options, const ResourceRequest& request,
                                           const HeadParts& parts);

/// `Content-Encoding` without `aws-chunked`, which was undone; empty if nothing is left.
std::string content_encoding_upstream(std::string_view value);

}  // namespace fenceline::backends::s3
