#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "client/token_source.h"

namespace fenceline::client {

/// What names a source and a lease on the command line.
struct LeaseOptions {
  std::string source;  ///< Empty: FENCELINE_SOURCE, else a fenceline server on this machine.
  std::vector<std::string> keys;
  std::string holder;  ///< Empty: user, host and process.
  base::Milliseconds ttl{30'000};
  base::Milliseconds wait{0};
  std::string check_url;  ///< Where to ask for the mark of a fresh token; empty: nowhere.
};

/// The URL of the source: of the option, the environment, or the default.
std::string source_url(const LeaseOptions& options);

/// The order for one attempt. Failure: `kMalformedRequest` with what is wrong.
base::Result<LeaseOrder> order_from(const LeaseOptions& options);

/// A source for a command; `clock` outlives it. Failure: as `make_source`.
base::Result<std::unique_ptr<TokenSource>> open_source(const LeaseOptions& options,
                                                       const base::Clock& clock);

/// The variables that tell a program about its lease, each NAME=value: FENCING_TOKEN, FENCING_KEY
/// (the first key), FENCING_KEYS (all, one a line), FENCING_LEASE, FENCING_HOLDER.
std::vector<std::string> lease_environment(const Grant& grant, const std::string& holder);

/// Asks where `check_url` says. Empty: the token is good, or it could not be found out (then it is
/// said on standard error). Else: why the token is useless, and what to do.
std::string problem_with_token(const LeaseOptions& options, const Grant& grant);

}  // namespace fenceline::client
