#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/s3/s3_upstream.h"
#include "base/async.h"
#include "base/http.h"
#include "base/stamp.h"

namespace fenceline::backends::s3 {

/// Stages a request that changes something, by what `standing` says about its operation.
/// Does: holds the body, or sends all but its last byte; what is sent under a condition of ours has
/// the state of the object read first, before the fence is checked for the last time (model d3).
/// `commit` sends the rest. A condition that was lost to others is tried again with the new state,
/// if the body could be held and the record does not name the old one. An answer that was lost is
/// looked up by the stamp of the object. Contract: `Backend::stage`.
base::Awaitable<base::Result<std::unique_ptr<StagedWrite>>> stage_write(
    SharedS3 upstream, std::shared_ptr<const S3Standing> standing, ResourceRequest request,
    base::BodySource& body, base::Stamp stamp);

}  // namespace fenceline::backends::s3
