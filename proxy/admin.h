#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "fencing/gate.h"
#include "fencing/intents.h"
#include "fencing/lease/lessor.h"
#include "fencing/ledger.h"
#include "fencing/source_watch.h"
#include "proxy/handler.h"
#include "proxy/rejections.h"
#include "proxy/route.h"

namespace fenceline::proxy {

/// What the admin API shows; everything outlives it.
struct AdminParts {
  const RouteTable& routes;
  fencing::Gate& gate;
  fencing::Ledger& ledger;
  fencing::Intents& intents;
  const Rejections& rejections;
  fencing::SourceWatch& source_watch;
  const base::Clock& clock;
  const base::MetricRegistry& metrics;
  fencing::Lessor* lessor;  ///< Null: there is no lease service.
  /// Asked for in `Authorization: Bearer`; empty: nobody is asked (loopback only).
  std::string bearer_token;
  /// Why the server is not ready, one sentence each; empty when it is.
  std::function<std::vector<std::string>()> not_ready;
  // Set when the metrics are asked for.
  base::Gauge ready;      ///< 1 while it is.
  base::Gauge unsettled;  ///< Writes on record whose outcome is unknown.
};

/// The admin API (design, 12; every path in docs/api.md): `/healthz`, `/readyz`, `/metrics`,
/// `/v1/fences`, `/v1/leases`, `/v1/unsettled`, `/v1/routes`, `/v1/rejections`, `/v1/stamp`. Only a
/// POST on `/v1/fences/{key}`, `/v1/leases/{key}` or `/v1/unsettled/{key}` changes something.
/// Failure: problem documents; 401 for a missing or wrong bearer token on every path but
/// `/healthz`.
std::unique_ptr<Handler> make_admin(AdminParts parts);

}  // namespace fenceline::proxy
