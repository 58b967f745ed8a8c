#pragma once

#include <atomic>

#include "backends/http/http_options.h"
#include "backends/http/standing.h"
#include "base/async.h"
#include "base/error.h"
#include "base/net/http_client.h"
#include "base/timer_wheel.h"

namespace fenceline::backends::http {

/// Finds out what an upstream really does, by writing resources of its own below the base path and
/// by racing requests on them; deletes them afterwards.
/// Success: what was found, for the modes that the options allow. Failure: `kUpstreamFailed` or
/// `kUpstreamTimeout` if it did not answer: then nothing is known.
/// Concurrency: a coroutine of the core that owns `timers`; the others outlive it.
base::Awaitable<base::Result<ProbeVerdict>> probe_upstream(base::net::HttpClient& client,
                                                           base::TimerWheel& timers,
                                                           const HttpOptions& options);

/// The same on the calling thread, with a client and timers of its own; blocks for
/// `options.probe_limit` at most, and gives up when `stop` is set.
base::Result<ProbeVerdict> run_probe(const HttpOptions& options, const std::atomic<bool>& stop);

}  // namespace fenceline::backends::http
