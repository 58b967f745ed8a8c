#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/config.h"

namespace fenceline::config {

/// What a route promises, as far as the configuration tells it.
struct RouteGuarantee {
  Guarantee level = Guarantee::kNone;
  std::string reason;  ///< One sentence for the operator, printed per route at start.
};

/// The guarantee of one route, looked at alone (design, 4). Pure.
///
/// `writes: off` → none; `enforce: false` → detect; `writes: optional` → detect; files without
/// fsync → bounded; files with fsync → strict. The first that applies counts.
RouteGuarantee route_guarantee(const Route& route);

/// The absolute, canonical form of a path: of the part that exists, symbolic links are followed.
/// Never fails: what cannot be looked at is taken as it is written. Must not throw.
using ResolvePath = std::function<std::string(const std::string&)>;

/// The guarantee of every route, in the order of `routes`. Routes over the same files have one
/// fence, so none of them promises more than the weakest that takes writes. Calls `resolve` once
/// per route; otherwise pure.
std::vector<RouteGuarantee> guarantees(const std::vector<Route>& routes,
                                       const ResolvePath& resolve);

}  // namespace fenceline::config
