#pragma once

#include <boost/container/small_vector.hpp>
#include <optional>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fence_key.h"
#include "base/timer_wheel.h"
#include "fencing/gate.h"

namespace fenceline::fencing {

/// Tickets for every key that a request names, in the order of the keys.
using Tickets = boost::container::small_vector<Ticket, 1>;
/// Permits for the same keys.
using Permits = boost::container::small_vector<Permit, 1>;

/// Step 1 for one request that may name several keys (S3 multi-delete), all or nothing.
///
/// Does: sorts the keys and drops duplicates; decides on all of them before it announces the token
/// on any, so a claim that is stale for one key raises no mark of another.
/// Success: one ticket per distinct key. Failure: the first refusal, as `Gate::admit`;
/// `kLedgerUnavailable` when a mark could not be read within `deadline`.
/// Concurrency: a coroutine of the core that owns `timers`. `claim` must outlive the call.
base::Awaitable<base::Result<Tickets>> admit(Gate& gate, std::vector<base::FenceKey> keys,
                                             Claim claim, base::TimerWheel& timers,
                                             base::Milliseconds deadline);

/// As `admit` for one key, when its mark is in memory (the steady state: no coroutine), with the
/// ticket added to `tickets`; nothing otherwise: then call `admit`.
std::optional<base::Result<void>> try_admit(Gate& gate, const base::FenceKey& key,
                                            const Claim& claim, Tickets& tickets);

/// Step 3 for the same request: enters the keys in their sorted order.
///
/// Does: waits, at most `deadline` per key, as `Gate::enter`. No two requests can wait for each
/// other: whoever waits, waits for lower tokens only.
/// Success: one permit per ticket. Failure: the first refusal; the keys entered before are left
/// as not applied.
/// Concurrency: as `admit`; `tickets` must outlive the call.
base::Awaitable<base::Result<Permits>> enter(Gate& gate, Tickets& tickets, base::TimerWheel& timers,
                                             base::Milliseconds deadline);

/// As `enter`, when no waiting is needed and there is at most one ticket (the steady state: no
/// coroutine, no clock), with the permit added to `permits`; nothing otherwise: then call `enter`.
std::optional<base::Result<void>> try_enter(Gate& gate, Tickets& tickets, Permits& permits);

/// Settles all of them with one outcome. Gives the mark of the first key, as `Permit::settle`.
base::Token settle(Permits& permits, Settlement outcome);

}  // namespace fenceline::fencing
