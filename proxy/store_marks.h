#pragma once

#include <string>

#include "base/async.h"
#include "base/error.h"
#include "base/token.h"
#include "proxy/route.h"

namespace fenceline::proxy {

/// Sets the marks that the stores behind the routes keep themselves for `key` to `to`, after the
/// ledger's own was reset.
/// Does: asks each backend once. Idempotent, so an order that was carried out halfway is repeated.
/// Success: all are durable. Failure: that of the first store that could not; `applied` is unknown,
/// as the ledger and other stores have the new mark already.
/// Concurrency: a coroutine of any core; `routes` outlives it.
base::Awaitable<base::Result<void>> reset_in_stores(const RouteTable& routes, std::string key,
                                                    base::Token to);

}  // namespace fenceline::proxy
