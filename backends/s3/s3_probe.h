#pragma once

#include <atomic>

#include "backends/s3/s3_options.h"
#include "backends/s3/s3_standing.h"
#include "base/error.h"

namespace fenceline::backends::s3 {

/// Finds out what an S3 server really does, by writing objects of its own (`.fenceline-probe-…`)
/// into the bucket of the route and by racing requests on them; removes them afterwards. Runs on
/// the calling thread, with a client and timers of its own; blocks for `http.probe_limit` at most,
/// and gives up when `stop` is set.
/// Success: what was found. Failure: `kUpstreamFailed` or `kUpstreamTimeout` if it did not answer:
/// then nothing is known.
base::Result<S3Verdict> run_probe(const S3Options& options, const std::atomic<bool>& stop);

}  // namespace fenceline::backends::s3
