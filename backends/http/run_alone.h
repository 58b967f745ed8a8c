#pragma once

#include <atomic>
#include <functional>

#include "backends/http/http_options.h"
#include "base/async.h"
#include "base/error.h"
#include "base/net/http_client.h"
#include "base/timer_wheel.h"

namespace fenceline::backends::http {

/// Runs a coroutine to its end on the calling thread, with a client and timers of its own; blocks
/// for `options.probe_limit` at most, and gives up when `stop` is set.
/// Success: it has ended. Failure: `kUpstreamTimeout` if it did not, then it has been destroyed;
/// `kInternal` if the CA file cannot be read.
base::Result<void> run_alone(const HttpOptions& options, const std::atomic<bool>& stop,
                             const std::function<base::Awaitable<void>(
                                 base::net::HttpClient& client, base::TimerWheel& timers)>& work);

}  // namespace fenceline::backends::http
