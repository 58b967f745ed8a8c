#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/metrics.h"
#include "config/config.h"
#include "proxy/open_backends.h"
#include "proxy/route.h"

namespace fenceline::proxy {

/// Makes the routes that run, with the backend of each.
/// Does: opens each backend, or shares it if it is open; checks `require` against the guarantee
/// that the backend really has. `roots`: the canonical files root of each route, in their order.
/// Success: the routes, in the order of the configuration. Failure: `kStorageFailed` or what the
/// backend says, naming the route; what was opened for it is let go.
/// `registry` must outlive the routes.
base::Result<std::vector<Route>> open_routes(const config::Config& config,
                                             const std::vector<std::string>& roots,
                                             OpenBackends& open_backends,
                                             base::MetricRegistry& registry);

}  // namespace fenceline::proxy
