#pragma once

#include <optional>
#include <string>

#include "config/config.h"
#include "config/problem.h"
#include "config/section.h"

namespace fenceline::config {

/// Reads everything but the routes from the top of the file. What is wrong is reported and stays at
/// its default (an endpoint: address ""; the ledger: path "").
void read_server(Section& top, Config& config);

/// Reads `leases`; nothing if it is not there.
void read_leases(Section& top, std::optional<Leases>& out);

/// Reads one item of `routes`. Time-outs that it does not set come from `defaults`.
/// `path` is `routes[N]`. Success: the route. Failure: nothing when the name, the match, the fence
/// or the backend is not usable, as nothing can be compared with such a route then. Whatever is
/// wrong is reported.
std::optional<Route> read_route(const YamlNode& node, std::string path, const Timeouts& defaults,
                                Report& report);

}  // namespace fenceline::config
