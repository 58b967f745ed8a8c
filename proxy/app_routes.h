#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/metrics.h"
#include "base/worker_pool.h"
#include "config/config.h"
#include "proxy/route.h"

namespace fenceline::proxy {

/// Opens the backend of every route, each root once, and makes the routes that run.
/// Does: opens each root for the ledger with `ledger_identity`; checks `require` against the
/// guarantee that the backend really has. Success: the routes, in the order of the configuration.
/// Failure: `kStorageFailed` or what the backend says, naming the route; nothing stays open.
/// `registry` and `pool` must outlive the routes.
base::Result<std::vector<Route>> open_routes(const config::Config& config,
                                             const std::string& ledger_identity,
                                             base::MetricRegistry& registry,
                                             base::WorkerPool& pool);

}  // namespace fenceline::proxy
