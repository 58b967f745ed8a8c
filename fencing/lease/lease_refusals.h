#pragma once

#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/fence_key.h"
#include "fencing/lease/lease.h"
#include "fencing/lease/lease_book.h"

namespace fenceline::fencing {

/// Why a bid for `wanted` does not have its turn: `kLeaseHeld` with who is before it on the first
/// of its keys, and in `retry_after_s` for how long at most on any of them, unless leases are
/// renewed. Pure.
base::Error lease_held(const LeaseBook& book, const Lease& wanted, base::MonotonicTime now);

/// `kLeaseEnded`, for renew and release.
base::Error lease_ended();

/// `kLeaseEnded`, for an acquire whose request id has had its lease.
base::Error attempt_ended();

/// `kLeaseHeld`, for the older of two calls with one request id.
base::Error attempt_repeated();

}  // namespace fenceline::fencing
