#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "client/token_source.h"

namespace fenceline::client {

inline constexpr std::size_t kMaxKeys = 64;
inline constexpr std::size_t kMaxHolderBytes = 256;
inline constexpr std::size_t kMaxAttemptBytes = 100;
inline constexpr base::Milliseconds kMaxTtl = std::chrono::hours(24 * 30);
inline constexpr base::Milliseconds kMaxWait = std::chrono::hours(24 * 30);

/// What every source asks of an order, whatever its own limits are: `make_source` checks it before
/// any source sees the order. Pure.
/// Failure: `kMalformedRequest` with the thing, the reason, the fix.
base::Result<void> check_order(const LeaseOrder& order);

}  // namespace fenceline::client
