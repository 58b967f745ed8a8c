#pragma once

// What a request to the lease service asks for (docs/api.md, "Leases"). All pure.

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/http.h"
#include "fencing/lease/lessor.h"

namespace fenceline::proxy {

enum class LeaseVerb : std::uint8_t { kAcquire, kRenew, kRelease, kShow, kList };

/// What the request line says.
struct LeaseCall {
  LeaseVerb verb = LeaseVerb::kShow;
  std::string_view raw_key;  ///< Percent-encoded; empty where the path names none.
  std::string_view lease;    ///< 32 hexadecimal digits; only to renew and to release.
};

/// True if `path`, undecoded, is `service` or below it.
bool is_below(std::string_view path, std::string_view service);

/// Reads method and path; `service` is the path of the service, and `head.path` is below it.
/// Success: the call, with views into the path. Failure: `kMethodNotAllowed` with `Allow`;
/// `kMalformedRequest` where the last segment is no lease id but one is needed.
base::Result<LeaseCall> lease_call(const base::RequestHead& head, std::string_view service);

/// Reads the body of an acquire. `key`: from the path; nothing if the body lists `keys`.
/// `lock_delay`: where the body names none. Success: an order whose limits the lessor has to check;
/// its request id is empty if the body has none. Failure: `kMalformedRequest` for anything else,
/// also a member nobody knows; as `FenceKey::parse`.
base::Result<fencing::AcquireOrder> parse_acquire(std::string_view body,
                                                  std::optional<base::FenceKey> key,
                                                  base::Milliseconds lock_delay);

/// Reads the body of a renewal, which may be empty. Success: the new ttl, if there is one. Failure:
/// `kMalformedRequest`.
base::Result<std::optional<base::Milliseconds>> parse_renew(std::string_view body);

/// Reads `{"action":"revoke","reason":"…","by":"…"}`; `by` may be left out. Failure:
/// `kMalformedRequest`.
struct RevokeOrder {
  std::string reason;
  std::string by;
};
base::Result<RevokeOrder> parse_revoke(std::string_view body);

}  // namespace fenceline::proxy
