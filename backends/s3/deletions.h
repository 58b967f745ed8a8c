#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/s3/s3_upstream.h"
#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/http.h"
#include "base/stamp.h"

namespace fenceline::backends::s3 {

/// How long the states of the objects may take to read.
inline constexpr base::Milliseconds kLookLimit{25'000};

/// Stages a DeleteObjects request where deletions are tombstones: as a DeleteObject of each object
/// that its document names, with `StagedWrite::parts`. So each is as `stage_write` makes it, also
/// that of a version (plain), and one that is absent sends nothing.
/// Does: reads the state of one object after the other, before the fence is checked for the last
/// time. An object that is named again is one part: the first. An ETag is an `If-Match`. The fields
/// of the request that go with a deletion (who pays, whose bucket, governance, keys of clients) go
/// with each.
/// Success: the parts, in the order of the document; one that cannot be staged has that for its
/// outcome. Failure: `kMalformedRequest` for an object that is named again with another ETag;
/// `kMethodUnknown` for an ETag of a version, which nobody would check; `kOverloaded` where
/// `kLookLimit` is over; if the upstream is silent or too busy, or no part can be staged, as
/// `stage_write`. Nothing was changed then. Contract: `Backend::stage`.
base::Awaitable<base::Result<std::unique_ptr<StagedWrite>>> stage_deletions(
    SharedS3 upstream, std::shared_ptr<const S3Standing> standing, ResourceRequest request,
    base::BodySource& body, base::Stamp stamp);

}  // namespace fenceline::backends::s3
