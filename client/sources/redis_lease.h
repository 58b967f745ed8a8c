#pragma once

// What both kinds of Redis sources know about one lease. Pure, but for the chance in `Backoff`.

#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "client/token_source.h"

namespace fenceline::client {

/// Below it the drift and a round trip leave nothing.
inline constexpr base::Milliseconds kMinRedisTtl{100};

/// What is written into the lock: who, and a part that nobody can guess. Visible ASCII.
std::string owner_value(std::string_view holder, std::string_view secret);

/// The holder in such a value; empty if it is none.
std::string holder_in(std::string_view owner_value);

/// Until when a lock is surely held that was asked for at `sent`: 1 % less for clocks that drift,
/// 2 ms less because Redis counts in milliseconds.
base::MonotonicTime valid_until(base::MonotonicTime sent, base::Milliseconds ttl);

/// Refuses what no Redis source takes: several keys, a ttl below `kMinRedisTtl`.
base::Result<void> check_redis_order(const LeaseOrder& order);

/// `kLeaseHeld` that says by whom and for how long. `left`: nothing if it is not known, negative if
/// the lock never ends.
base::Error held_error(const base::FenceKey& key, std::string_view holder,
                       std::optional<base::Milliseconds> left);

/// How long to wait until the next try: longer and longer up to a quarter of a second, with chance
/// in it so that those who wait do not meet again.
class Backoff {
 public:
  Backoff();

  /// `left`: of the lock that is in the way, if it is known.
  base::Milliseconds next(std::optional<base::Milliseconds> left);

 private:
  std::minstd_rand random_;
  int around_ms_ = 10;
};

}  // namespace fenceline::client
