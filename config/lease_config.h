#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/clock.h"
#include "config/problem.h"

namespace fenceline::config {

/// The lease service on the public listener. Left out, there is none.
struct Leases {
  /// Requests for this path, and for all below it, are for leases; no route may take any of them.
  /// Literal segments of unreserved characters (RFC 3986, 2.3), without a slash at the end.
  std::string path = "/leases";
  /// Requests must then carry it as `Authorization: Bearer` (RFC 6750).
  std::optional<std::string> token;
  /// What a lease may ask for.
  base::Milliseconds min_ttl{1'000};
  base::Milliseconds max_ttl{24LL * 60 * 60 * 1000};
  /// How long a request may wait in line.
  base::Milliseconds max_wait{60'000};
  /// For a lease that names none: how long nobody gets its keys after it has expired or was
  /// revoked.
  base::Milliseconds lock_delay{0};
  base::Milliseconds max_lock_delay{60'000};
  /// Leases that are held at one time, and requests that wait for one key.
  std::size_t max_leases = 1'000'000;
  std::size_t max_waiters = 10'000;
  /// How long a grant may wait for commits with older tokens to leave.
  base::Milliseconds drain{10'000};
  Place place;  ///< Of `path`, or of the section.
};

}  // namespace fenceline::config
