#pragma once

#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/timer_wheel.h"
#include "fencing/intents.h"

namespace fenceline::fencing {

/// Puts one write on record, once for each key that it names, as `Intents::begin`, and waits at
/// most `deadline` for all of them.
/// Does: asks for every one before it waits for the first, so that they share a commit of the
/// ledger. `writes`: at least one.
/// Success: all are durable and running, in the order of `writes`. Failure: the first of `begin`,
/// when all have been answered; `kLedgerUnavailable` at the deadline. The write must not be
/// committed then, and none of them counts as running: what is on record, or comes there late, is
/// finished, as nothing was sent. Concurrency: a coroutine of the core that owns `timers`;
/// `intents` outlives every call.
base::Awaitable<base::Result<std::vector<RunningIntent>>> put_on_record(
    Intents& intents, std::vector<Intent> writes, bool shared, base::TimerWheel& timers,
    base::Milliseconds deadline);

}  // namespace fenceline::fencing
