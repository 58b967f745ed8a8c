#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>

#include "base/net/connection.h"
#include "base/net/connection_pool.h"

namespace fenceline::base::net {

/// Opens one more connection of `pool`: name, TCP, and TLS if the upstream has it, within
/// `HttpClientOptions::connect` together. Tries the addresses of the name one after the other.
/// Failure: `kUpstreamFailed`, `kUpstreamTimeout`; `applied` is `kNo`.
/// Concurrency: a coroutine on `context`, the core of `pool` and `timers`. A name is looked up on
/// Asio's own thread; one that takes longer than the deadline is left behind.
Awaitable<Result<std::unique_ptr<Connection>>> dial(boost::asio::io_context& context, Pool& pool,
                                                    TimerWheel& timers);

}  // namespace fenceline::base::net
