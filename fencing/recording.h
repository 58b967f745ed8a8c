#pragma once

#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/timer_wheel.h"
#include "fencing/intents.h"

namespace fenceline::fencing {

/// Puts a write on record, as `Intents::begin`, and waits for it at most `deadline`.
/// Success: durable, running. Failure: as `begin`; `kLedgerUnavailable` at the deadline, and the
/// write, which must not be committed, does not count as running: what comes on record after it is
/// finished, as nothing was sent.
/// Concurrency: a coroutine of the core that owns `timers`; `intents` outlives every call.
base::Awaitable<base::Result<RunningIntent>> put_on_record(Intents& intents, Intent intent,
                                                           bool shared, base::TimerWheel& timers,
                                                           base::Milliseconds deadline);

}  // namespace fenceline::fencing
