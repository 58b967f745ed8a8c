#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/s3/delete_document.h"
#include "backends/s3/operation.h"
#include "backends/s3/s3_options.h"
#include "base/aws/verified_body.h"
#include "base/error.h"

namespace fenceline::backends::s3 {

/// What the front has found out about an S3 request. Plain data; lives as long as the request.
struct S3Request {
  const Operation* operation = nullptr;
  std::string bucket = {};  ///< As the client names it; empty on the level of the service.
  std::string key = {};     ///< Decoded once; empty but for operations on an object.
  /// The body as the client meant it. `stage` reads it through its own argument, which counts.
  /// Null where there is none.
  base::aws::VerifiedBody* body = nullptr;
  /// Of DeleteObjects: the document in our own form; sent instead of `body`. Empty otherwise.
  std::string document = {};
  DeleteDocument named = {};  ///< The same, as it was read: the objects that are named.
};

/// Opens a backend in front of somebody else's S3 server (docs/s3.md).
/// Does: probes it if the options ask for that; blocks for `http.probe_limit` at most. As
/// `open_http_backend` otherwise. Every `ResourceRequest` it gets has `s3` set.
/// Failure: `kInternal` if the CA file cannot be read.
base::Result<std::unique_ptr<Backend>> open_s3_backend(S3Options options);

}  // namespace fenceline::backends::s3
