#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "config/same_data.h"

namespace fenceline::config {

/// What a route promises, as far as the configuration tells it.
struct RouteGuarantee {
  Guarantee level = Guarantee::kNone;
  std::string reason;  ///< One sentence for the operator, printed per route at start.
};

/// The guarantee of one route, looked at alone (design, 4). Pure.
///
/// `writes: off` → none; `enforce: false` → detect; `writes: optional` → detect; files without
/// fsync → bounded; an upstream with `commit: plain`, or S3 buckets that nobody probes → bounded;
/// else strict. The first that applies
/// counts. What an upstream really gives, its probe finds at the start: never more than this.
RouteGuarantee route_guarantee(const Route& route);

/// The guarantee of every route, in the order of `routes`. Routes over the same data have one
/// fence, so none of them promises more than the weakest that takes writes. Calls `resolve` once
/// per route; otherwise pure.
std::vector<RouteGuarantee> guarantees(const std::vector<Route>& routes,
                                       const ResolvePath& resolve);

}  // namespace fenceline::config
