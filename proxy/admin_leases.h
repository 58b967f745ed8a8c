#pragma once

#include <string_view>

#include "base/async.h"
#include "base/error.h"
#include "base/http.h"
#include "fencing/lease/lessor.h"
#include "proxy/handler.h"
#include "proxy/older_writes.h"

namespace fenceline::proxy {

/// `/v1/leases` of the admin API: list, show, revoke (docs/api.md). Access has been checked.
///
/// Failure of each call: what the lessor says, `kMalformedRequest` for parameters, keys and bodies
/// that are none, `kNotFound` where there is no lease, or no lease service. Concurrency: many calls
/// at once, each on the core that runs `request`.
class AdminLeases {
 public:
  /// `lessor` outlives this; null: there is no lease service. So does what `older_writes` refers
  /// to.
  AdminLeases(fencing::Lessor* lessor, const OlderWrites& older_writes)
      : lessor_(lessor), older_writes_(older_writes) {}

  /// A page of leases, as `prefix`, `after` and `limit` of the query say. None has its id.
  base::Result<base::Reply> list(const base::RequestHead& head);

  /// What is known about the percent-encoded `raw_key`.
  base::Result<base::Reply> show(std::string_view raw_key);

  /// Carries the order in the body out, and logs it with its reason. Failure also: `kDraining`: the
  /// lease has ended and its holder is fenced, but an older write may still take effect.
  base::Awaitable<base::Result<base::Reply>> change(Request request, std::string_view raw_key);

 private:
  [[nodiscard]] base::Result<void> check_service() const;

  fencing::Lessor* lessor_;
  OlderWrites older_writes_;
};

}  // namespace fenceline::proxy
