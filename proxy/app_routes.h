#pragma once

#include <vector>

#include "base/error.h"
#include "base/metrics.h"
#include "base/worker_pool.h"
#include "config/config.h"
#include "proxy/route.h"

namespace fenceline::proxy {

/// Opens the backend of every route, each root once, and makes the routes that run.
/// Does: checks `require` against the guarantee that the backend really has.
/// Success: the routes, in the order of the configuration. Failure: `kStorageFailed` or what the
/// backend says, naming the route; nothing stays open.
/// `registry` and `pool` must outlive the routes.
base::Result<std::vector<Route>> open_routes(const config::Config& config,
                                             base::MetricRegistry& registry,
                                             base::WorkerPool& pool);

}  // namespace fenceline::proxy
