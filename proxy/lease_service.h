#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "config/lease_config.h"
#include "fencing/intents.h"
#include "fencing/lease/lessor.h"
#include "proxy/handler.h"
#include "proxy/lease_audit.h"
#include "proxy/route.h"

namespace fenceline::proxy {

/// What the lease service works with; everything outlives it.
struct LeaseServiceParts {
  fencing::Lessor& lessor;
  const LeaseAudit& audit;
  fencing::Intents& intents;
  const RouteTable& routes;
  const base::Clock& clock;  ///< That of `intents`; measures how long answers take.
  config::Leases settings;
  /// Makes the request id of an acquire that has none.
  std::function<std::string()> make_id;
};

/// The lease service over HTTP (design, 9; docs/api.md, "Leases"): it turns requests into calls of
/// the lessor, and what that says into answers.
///
/// A grant is answered when no older write on record can take effect any more; where one can, it is
/// 503 `draining`, and the lease is given back. An acquire may wait as long as its client asked
/// for. When the client goes meanwhile it loses its place, and a lease that has just been granted
/// to it is given back. Failure: problem documents.
std::unique_ptr<Handler> make_lease_service(LeaseServiceParts parts);

/// The handler of a listener that has a lease service beside its routes: requests for `path` and
/// below it go to `leases`, all others to `routes`; so do those whose host names a bucket of an S3
/// route, as their path is the object's. The arguments outlive it.
std::unique_ptr<Handler> make_lease_front(std::string path, Handler& leases, Handler& pipeline,
                                          const RouteTable& routes);

}  // namespace fenceline::proxy
