#pragma once

#include <string>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "fencing/lease/lease.h"

namespace fenceline::fencing {

/// A key that nobody gets for a time, although nobody holds it.
struct LockDelay {
  base::FenceKey key;
  base::Milliseconds delay{0};

  friend bool operator==(const LockDelay&, const LockDelay&) = default;
};

/// Everything about leases that survives a restart. No times: a restart gives every lease its whole
/// ttl and every lock-delay its whole length again.
struct LeaseRecords {
  std::vector<Lease> leases;      ///< By id.
  std::vector<LockDelay> delays;  ///< By key, byte by byte.
};

/// What one grant changes.
struct GrantOrder {
  Lease lease;                     ///< Without its token.
  std::vector<std::string> ended;  ///< Leases that have expired and stand in the way.
  std::vector<base::FenceKey> delays_over;
  /// The highest token that was presented for any of the keys, stored or not yet; the new one is
  /// above it.
  base::Token above = {};
};

/// What the end of leases changes.
struct EndOrder {
  std::vector<std::string> ids;   ///< Those that are not there have ended already.
  std::vector<LockDelay> delays;  ///< Put, or replaced.
  std::vector<base::FenceKey> delays_over;
  /// Revoke: takes a new token, as a grant does, and raises the marks of these keys to it, so that
  /// the holder is fenced although nobody follows. Empty: no token is taken.
  std::vector<base::FenceKey> fenced;
  base::Token above = {};  ///< As for a grant.
};

/// The durable half of the lease service; part of the ledger, because grant, token and marks are
/// one commit. It decides nothing: only the lessor calls it.
class LeaseStore {
 public:
  LeaseStore() = default;
  LeaseStore(const LeaseStore&) = delete;
  LeaseStore& operator=(const LeaseStore&) = delete;
  virtual ~LeaseStore() = default;

  /// Grants a lease.
  /// Does, all or nothing: takes the next token, which is 1 + the highest of the sequence of this
  /// ledger, the stored marks of the lease's keys and `above`; sets the sequence to it, unless it
  /// is above `kHighestRemembered` (lease_change.h); raises the marks of all keys to it, bound to
  /// the holder; drops `ended` and `delays_over`; stores the lease. Success: the token; everything
  /// is durable. Failure: `kLedgerUnavailable` as `Ledger::raise`; `kOverloaded`;
  /// `kConstraintFailed` if the tokens of a key have come to their end (2^63−1); `kInternal` if
  /// another stored lease than `ended` has its id or one of its keys. Concurrency: as
  /// `Ledger::raise`; calls take effect in their order, together with `end_leases`.
  virtual void grant(GrantOrder order, base::Done<base::Result<base::Token>> done) = 0;

  /// Ends leases. Success: durable; the new token, or none if `fenced` is empty. Failure and
  /// concurrency: as `grant`.
  virtual void end_leases(EndOrder order, base::Done<base::Result<base::Token>> done) = 0;

  /// Stores another ttl. Success: durable; also if there is no such lease, then nothing changes.
  /// Failure and concurrency: as `grant`.
  virtual void change_ttl(std::string id, base::Milliseconds ttl,
                          base::Done<base::Result<void>> done) = 0;

  /// Lists what is stored. Failure and concurrency: as `Ledger::raise`.
  virtual void list_leases(base::Done<base::Result<LeaseRecords>> done) = 0;
};

}  // namespace fenceline::fencing
