#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/net/http_client.h"
#include "client/source_url.h"
#include "client/sources/fenceline_calls.h"

namespace fenceline::client {

/// A lease service and how to reach it.
struct LeaseServiceTarget {
  LeaseService service;
  base::net::HttpClientOptions client;
  /// So long waits one request in line; the next one takes its place over before it ends.
  base::Milliseconds window{20'000};
};

/// Reads a URL whose scheme is `fenceline` or `fencelines`: `/path` of the service, `?token-file=`
/// (else FENCELINE_LEASE_TOKEN), `?ca=`, `?poll=` (seconds of a window).
/// Failure: `kMalformedRequest` with the thing, the reason, the fix.
base::Result<LeaseServiceTarget> find_lease_service(SourceUrl url);

/// The leases of keys that start with `prefix`, at most `limit` (0: all), by key. Blocks.
/// Failure: as the calls of a `TokenSource`.
base::Result<std::vector<ListedLease>> list_leases(const LeaseServiceTarget& target,
                                                   const std::string& prefix, std::size_t limit);

}  // namespace fenceline::client
