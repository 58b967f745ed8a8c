#pragma once

#include <string_view>

#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/http.h"
#include "fencing/intents.h"
#include "fencing/ledger.h"
#include "proxy/handler.h"

namespace fenceline::proxy {

/// `/v1/unsettled` of the admin API: writes on record whose outcome is unknown, and an operator's
/// word that they can take no effect any more (docs/api.md). Access has been checked.
///
/// Each call: a coroutine of the core that runs `request`, many at once. Failure:
/// `kMalformedRequest` for parameters, keys and bodies that are none.
class AdminUnsettled {
 public:
  /// The arguments outlive this.
  AdminUnsettled(fencing::Intents& intents, fencing::Ledger& ledger, const base::Clock& clock)
      : intents_(intents), ledger_(ledger), clock_(clock) {}

  /// A page of them, as `prefix`, `after` and `limit` of the query say.
  base::Result<base::Reply> list(const base::RequestHead& head);

  /// Settles those of the key `raw_key` that the order in the body names (`parse_settle_order`),
  /// and logs each. Success: they are off the record, durably. Failure also: `kNotFound`;
  /// `kLedgerUnavailable`, then they are forgotten, but a restart may find them again.
  base::Awaitable<base::Result<base::Reply>> settle(Request request, std::string_view raw_key);

 private:
  fencing::Intents& intents_;
  fencing::Ledger& ledger_;
  const base::Clock& clock_;
};

}  // namespace fenceline::proxy
