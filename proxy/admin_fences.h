#pragma once

#include <string_view>

#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/http.h"
#include "fencing/gate.h"
#include "fencing/intents.h"
#include "fencing/ledger.h"
#include "fencing/source_watch.h"
#include "proxy/handler.h"
#include "proxy/older_writes.h"
#include "proxy/route.h"

namespace fenceline::proxy {

/// `/v1/fences` of the admin API: list, show, raise, reset (docs/api.md). Access has been checked.
///
/// Each call: a coroutine of the core that runs `request`, many at once. Failure: what the ledger
/// and the gate say, and `kMalformedRequest` for parameters, keys and bodies that are none.
class AdminFences {
 public:
  /// The arguments outlive this.
  AdminFences(const RouteTable& routes, fencing::Gate& gate, fencing::Ledger& ledger,
              fencing::Intents& intents, fencing::SourceWatch& watch, const base::Clock& clock)
      : routes_(routes),
        gate_(gate),
        ledger_(ledger),
        intents_(intents),
        watch_(watch),
        clock_(clock),
        older_writes_(intents, routes, clock) {}

  /// A page of fences, as `prefix`, `after` and `limit` of the query say.
  base::Awaitable<base::Result<base::Reply>> list(Request request);

  /// The fence whose percent-encoded key is `raw_key`. Failure also: `kNotFound`.
  base::Awaitable<base::Result<base::Reply>> show(Request request, std::string_view raw_key);

  /// Carries the order in the body out (`proxy/fence_order.h`), and logs it.
  base::Awaitable<base::Result<base::Reply>> change(Request request, std::string_view raw_key);

 private:
  // These are awaited at once, so their arguments live long enough.
  base::Awaitable<base::Result<base::Reply>> raise(Request request, const base::FenceKey& key,
                                                   base::Token to);
  /// Fills in who gave the order, and when.
  base::Awaitable<base::Result<base::Reply>> reset(Request request, const base::FenceKey& key,
                                                   fencing::ResetOrder& order);

  const RouteTable& routes_;
  fencing::Gate& gate_;
  fencing::Ledger& ledger_;
  fencing::Intents& intents_;
  fencing::SourceWatch& watch_;
  const base::Clock& clock_;
  OlderWrites older_writes_;
};

}  // namespace fenceline::proxy
