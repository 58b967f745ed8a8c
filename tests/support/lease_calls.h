#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/token.h"
#include "fencing/lease/lease_store.h"

namespace fenceline::testing {

/// A lease of the test's own, without a token: its keys sorted as given, ttl 10 s.
fencing::Lease lease_of(const std::string& id, const std::vector<std::string>& keys,
                        const std::string& holder = "worker-1");

/// As it is stored: with its token.
fencing::Lease with_token(fencing::Lease lease, std::int64_t token);

/// The calls of a lease store, waited for.
base::Result<base::Token> grant_now(fencing::LeaseStore& store, const fencing::GrantOrder& order);
base::Result<base::Token> end_now(fencing::LeaseStore& store, const fencing::EndOrder& order);
base::Result<void> change_ttl_now(fencing::LeaseStore& store, const std::string& id,
                                  base::Milliseconds ttl);
base::Result<fencing::LeaseRecords> leases_now(fencing::LeaseStore& store);

}  // namespace fenceline::testing
