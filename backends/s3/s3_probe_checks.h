#pragma once

// What the probe of an S3 server tries, one check each. All of them are coroutines of one core;
// `calls` outlives them.

#include <optional>
#include <string>

#include "backends/http/probe_calls.h"
#include "backends/s3/s3_probe_calls.h"
#include "backends/s3/s3_standing.h"

namespace fenceline::backends::s3 {

/// What `check_put` has found.
struct PutFinding {
  http::Finding wrong;  ///< Why PUT does not keep to conditions.
  TagStyle tags = TagStyle::kQuoted;
  bool tags_repeat = true;
  bool tags_are_md5 = false;
};

/// `If-None-Match: *` and `If-Match` on PUT, also when eight race for one state, of whom exactly
/// one may win; in which form it takes entity tags; whether the same bytes have the same tag,
/// and whether that is their MD5.
base::Awaitable<PutFinding> check_put(S3ProbeCalls& calls);

/// The same conditions on DELETE (`If-Match` only), CopyObject and CompleteMultipartUpload, also
/// when they race with PUTs. Call them where `check_put` found nothing wrong.
base::Awaitable<http::Finding> check_delete(S3ProbeCalls& calls, TagStyle tags);
base::Awaitable<http::Finding> check_copy(S3ProbeCalls& calls, TagStyle tags);
base::Awaitable<http::Finding> check_complete(S3ProbeCalls& calls, TagStyle tags);

/// Whether an AbortMultipartUpload ends an upload for good, also while a CompleteMultipartUpload is
/// under way: after a success no object comes of it, and after 404 none that was not there then.
base::Awaitable<http::Finding> check_abort(S3ProbeCalls& calls);

}  // namespace fenceline::backends::s3
