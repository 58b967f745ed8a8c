#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "fencing/lease/lease.h"
#include "fencing/lease/lessor.h"

namespace fenceline::fencing {

/// What an acquire asks for, checked: the lease without id and token, its keys sorted.
/// Failure: `kMalformedRequest`, which names the limit. Pure.
base::Result<Lease> lease_wanted(AcquireOrder order, const LeaseLimits& limits);

/// A ttl within the limits. Failure: `kMalformedRequest`. Pure.
base::Result<void> check_ttl(base::Milliseconds ttl, const LeaseLimits& limits);

}  // namespace fenceline::fencing
