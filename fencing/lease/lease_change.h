#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/error.h"
#include "base/token.h"
#include "fencing/lease/lease_store.h"

namespace fenceline::fencing {

/// What `LeaseStore::change_ttl` changes.
struct TtlOrder {
  std::string id;
  base::Milliseconds ttl{0};
};

/// One change of a lease store: of `grant`, `end_leases` or `change_ttl`.
using LeaseChange = std::variant<GrantOrder, EndOrder, TtlOrder>;

/// The token after `highest`, which is the highest of the sequence and of the marks that it has to
/// be above. Failure: `kConstraintFailed` after 2^63−1. Pure.
base::Result<base::Token> token_after(base::Token highest);

/// The sequence of a ledger remembers tokens up to this. Counting does not come so far, so a token
/// above it was made up by somebody who presented it. If the sequence followed one, every key would
/// have come to the end of its tokens, and no reset of a mark could bring it back.
inline constexpr std::int64_t kHighestRemembered = std::int64_t{1} << 62;

/// The sequence after `token` was granted: `last` if that is not to be remembered. Pure.
base::Token sequence_after(base::Token last, base::Token token);

/// What a store answers to a grant that would give one key, or one id, to two leases: a bug of
/// whoever calls it, so nothing is granted.
base::Error granted_twice();

}  // namespace fenceline::fencing
