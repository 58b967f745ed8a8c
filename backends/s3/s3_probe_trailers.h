#pragma once

#include "backends/http/probe_calls.h"
#include "backends/s3/s3_probe_calls.h"
#include "base/async.h"

namespace fenceline::backends::s3 {

/// Whether a PUT and a part in `aws-chunked`, without signatures and with a CRC32 as the trailer,
/// become the object that they would be without it: its content, and no `aws-chunked` left in its
/// `Content-Encoding`, also beside a coding of its own. `conditions`: a PUT keeps to them, so one
/// in `aws-chunked` has to as well. A coroutine of one core; `calls` outlives it.
base::Awaitable<http::Finding> check_trailers(S3ProbeCalls& calls, bool conditions);

}  // namespace fenceline::backends::s3
