#pragma once

// What the lease service and the admin API say about leases, as JSON. Tokens are strings: JSON
// numbers are exact to 2^53 only. All pure.

#include <cstddef>
#include <string>
#include <vector>

#include "base/fence_key.h"
#include "fencing/lease/lessor.h"

namespace fenceline::proxy {

/// A lease for its holder: `{lease, keys, token, holder, request_id, ttl_ms, left_ms,
/// lock_delay_ms}`. The only document with the id, which is a secret of the holder.
std::string granted_json(const fencing::LeaseView& view);

/// What is known about a key: `{key, held, waiting, lock_delay_left_ms}` and, if it is held,
/// `{holder, token, keys, ttl_ms, left_ms, lock_delay_ms}`.
std::string lease_key_json(const base::FenceKey& key, const fencing::LeaseKeyView& view);

/// `{"leases":[{key, holder, token, keys, ttl_ms, left_ms, lock_delay_ms}], "next": …}`; `next` is
/// there when `rows` filled the page.
std::string leases_json(const std::vector<fencing::Lessor::Listed>& rows, std::size_t limit);

/// What a revoke did: `{key, holder, revoked, token, keys}`; `revoked` is the token that has ended.
std::string revoked_json(const base::FenceKey& key, const fencing::Revoked& revoked);

/// The keys as a JSON list, for a log line; one key as it is.
std::string keys_text(const std::vector<base::FenceKey>& keys);

}  // namespace fenceline::proxy
