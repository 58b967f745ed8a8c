#pragma once

#include <vector>

#include "backends/backend.h"
#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fence_key.h"
#include "base/timer_wheel.h"
#include "base/token.h"
#include "fencing/intents.h"
#include "proxy/route.h"

namespace fenceline::proxy {

/// What older tokens have left behind at somebody else's server: writes of unknown outcome, of this
/// process and of those before it. Whoever is newer settles them before it acts (models d2, d6).
class OlderWrites {
 public:
  /// The arguments outlive it.
  OlderWrites(fencing::Intents& intents, const RouteTable& routes, const base::Clock& clock)
      : intents_(intents), routes_(routes), clock_(clock) {}

  /// True if no write of any key has an unknown outcome: the steady state, one atomic load.
  [[nodiscard]] bool none() const { return !intents_.any_unsettled(); }

  /// Settles the writes on `key` that have an unknown outcome and a lower token than `token`.
  /// Precondition: the caller holds a permit for `token`, or has held one (the mark is not below
  /// it), so no older write begins meanwhile. Every
  /// request does this, not only the one that raised the mark.
  /// Does: for each, asks the backend of its route to revoke it, unless `write` (null for a read)
  /// replaces it; where there is no means, or `write` would revive it, its settle rule decides.
  /// Success: false: none of them can take effect any more. True: none can once `write` has
  /// succeeded; where it was refused instead, the caller settles again, without it, before anybody
  /// hears of that. Failure: `kDraining`, with the time to wait where it is known.
  base::Awaitable<base::Result<bool>> settle(const base::FenceKey& key, base::Token token,
                                             const backends::StagedWrite* write,
                                             base::TimerWheel& timers);

  /// As a fenced read settles, for all of `keys`: what must be done before anybody is told that
  /// older tokens are out. Success: none of their writes can take effect any more, or each waits
  /// for a state that is not there. Failure: as `settle`.
  base::Awaitable<base::Result<void>> settle_all(std::vector<base::FenceKey> keys,
                                                 base::Token token, base::TimerWheel& timers);

 private:
  /// Those that wait for a state that was not there when it was looked at.
  using Dormant = std::vector<fencing::UnsettledIntent>;

  base::Awaitable<base::Result<bool>> settle_one(fencing::UnsettledIntent older,
                                                 const backends::StagedWrite* write,
                                                 base::TimerWheel& timers, Dormant& dormant);
  base::Result<bool> settle_by_rule(const fencing::UnsettledIntent& older, const Route& route,
                                    bool revived);

  fencing::Intents& intents_;
  const RouteTable& routes_;
  const base::Clock& clock_;
};

}  // namespace fenceline::proxy
