#pragma once

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
  /// Precondition: the caller holds a permit for `token`, so no older write begins meanwhile. Every
  /// request does this, not only the one that raised the mark.
  /// Does: for each, asks the backend of its route to revoke it; where that has no means, its
  /// settle rule decides. Success: none is left. Failure: `kDraining`, with the time to wait where
  /// it is known.
  base::Awaitable<base::Result<void>> settle(const base::FenceKey& key, base::Token token,
                                             base::TimerWheel& timers);

 private:
  base::Awaitable<base::Result<void>> settle_one(fencing::UnsettledIntent older,
                                                 base::TimerWheel& timers);

  fencing::Intents& intents_;
  const RouteTable& routes_;
  const base::Clock& clock_;
};

}  // namespace fenceline::proxy
