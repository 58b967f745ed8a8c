#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fence_key.h"
#include "base/token.h"

namespace fenceline::fencing {

/// Keys that one lease can hold.
inline constexpr std::size_t kMaxLeaseKeys = 64;

/// A lease: exclusive use of its keys for a time, under one token (design, 9). Plain data; when it
/// ends is known to the lessor alone.
struct Lease {
  /// 32 lower-case hexadecimal digits, random. Whoever knows it may renew and release, so it is
  /// shown to nobody but the holder.
  std::string id;
  std::vector<base::FenceKey> keys;  ///< 1 … kMaxLeaseKeys, sorted, none twice.
  base::Token token;                 ///< Above all that were granted or seen for any of the keys.
  std::string holder;                ///< 1 … kMaxHolderBytes visible ASCII.
  /// Names the attempt: a repeated acquire with the same holder and request id gets the same lease.
  /// 1 … kMaxRequestIdBytes visible ASCII.
  std::string request_id;
  base::Milliseconds ttl{0};         ///< From the grant or the last renewal.
  base::Milliseconds lock_delay{0};  ///< Nobody gets the keys for so long after expiry or revoke.

  friend bool operator==(const Lease&, const Lease&) = default;
};

inline constexpr std::size_t kMaxRequestIdBytes = 128;

}  // namespace fenceline::fencing
