#pragma once

// What is said to the lease service of a fenceline server (docs/api.md, "Leases"), and what its
// answers mean. All pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/fence_key.h"
#include "base/token.h"
#include "client/blocking_http.h"
#include "client/token_source.h"

namespace fenceline::client {

/// Where the service is.
struct LeaseService {
  std::string address;            ///< `host:port`, for messages.
  std::string path = "/leases";   ///< Without a slash at the end.
  std::string bearer_token = {};  ///< Empty: none is sent.
};

HttpCall acquire_call(const LeaseService& service, const LeaseOrder& order, base::Milliseconds wait,
                      base::Milliseconds deadline);
HttpCall renew_call(const LeaseService& service, const Grant& grant, base::Milliseconds deadline);
HttpCall release_call(const LeaseService& service, const Grant& grant, base::Milliseconds deadline);
HttpCall show_call(const LeaseService& service, const base::FenceKey& key,
                   base::Milliseconds deadline);

HttpCall list_call(const LeaseService& service, std::string_view prefix, std::string_view after,
                   std::size_t limit, base::Milliseconds deadline);

/// Success: the grant, without `valid_until`. Failure: what the service refused, as an error of
/// `TokenSource`; a lease that has ended is `kLeaseEnded` here.
base::Result<Grant> read_grant(const LeaseService& service, const LeaseOrder& order,
                               const HttpAnswer& answer);

/// Success: the ttl that begins with the renewal. Failure: as `read_grant`.
base::Result<base::Milliseconds> read_renewal(const LeaseService& service, const Grant& grant,
                                              const HttpAnswer& answer);

/// Failure: as `read_grant`.
base::Result<void> read_release(const LeaseService& service, const HttpAnswer& answer);

/// Success: who holds it; nothing if nobody does. Failure: as `read_grant`.
base::Result<std::optional<HeldBy>> read_show(const LeaseService& service,
                                              const HttpAnswer& answer);

/// One key that is held.
struct ListedLease {
  std::string key;
  HeldBy by;
};

/// Success: a page of what is held; `next` becomes what the next page comes after, empty if there
/// is none. Failure: as `read_grant`.
base::Result<std::vector<ListedLease>> read_list(const LeaseService& service,
                                                 const HttpAnswer& answer, std::string& next);

/// Until when a lease is surely held whose ttl began at the server after `sent`: two machines'
/// clocks run apart by less than a thousandth.
base::MonotonicTime surely_until(base::MonotonicTime sent, base::Milliseconds ttl);

}  // namespace fenceline::client
