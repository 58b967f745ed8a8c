#pragma once

// The lease service (design, 9; facts/ledger.md, 6), without HTTP. Deadlines are kept in memory on
// a clock that goes on during suspend; what is durable is in the ledger.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fence_key.h"
#include "base/token.h"
#include "fencing/gate.h"
#include "fencing/lease/lease.h"
#include "fencing/lease/lease_store.h"

namespace fenceline::fencing {

struct LeaseLimits {
  base::Milliseconds min_ttl{1'000};
  base::Milliseconds max_ttl{24 * 3'600'000};
  base::Milliseconds max_wait{60'000};
  base::Milliseconds max_lock_delay{60'000};
  std::size_t max_leases = 1'000'000;
  std::size_t max_waiters = 10'000;  ///< On one key; more are refused.
  /// How long a grant may wait until older writes have left the gate.
  base::Milliseconds drain{10'000};
};

/// Who wants what. `keys` need not be sorted; a key that is there twice is an error.
struct AcquireOrder {
  std::vector<base::FenceKey> keys;
  std::string holder;
  std::string request_id;
  base::Milliseconds ttl{0};
  base::Milliseconds wait{0};  ///< 0: answer at once.
  base::Milliseconds lock_delay{0};
};

/// A lease and what is left of it.
struct LeaseView {
  Lease lease;
  base::Milliseconds left{0};  ///< Until it expires unless it is renewed.
  // Only in the answer to an acquire.
  bool repeated = false;         ///< It was granted before, to the same holder and request id.
  base::Milliseconds waited{0};  ///< In line, before its turn came.
};

/// What is known about one key.
struct LeaseKeyView {
  std::optional<LeaseView> held;
  base::Milliseconds lock_delay_left{0};
  std::size_t waiting = 0;
};

/// What a revoke did.
struct Revoked {
  Lease lease;        ///< That has ended.
  base::Token token;  ///< The marks of its keys are at least this.
};

/// What happened, for log and metrics. Called without a lock, from any thread; must not block.
struct LeaseEvents {
  enum class End : std::uint8_t { kReleased, kExpired, kRevoked };
  std::function<void(const Lease&, base::Milliseconds waited)> granted = {};
  std::function<void(const Lease&, End)> ended = {};
};

/// Gives leases. Thread-safe; every callback is called exactly once, without a lock, possibly
/// inside the call, from any thread.
class Lessor {
 public:
  /// Names one waiting acquire, for `cancel`.
  using Attempt = std::uint64_t;

  Lessor() = default;
  Lessor(const Lessor&) = delete;
  Lessor& operator=(const Lessor&) = delete;
  virtual ~Lessor() = default;

  /// Takes a lease on all of the keys, or none.
  /// Does: the next in line of every key gets it when all of its keys are free, in the order of
  /// arrival, without barging. The grant is durable, with a token above every one granted or seen;
  /// the marks of all keys are raised, and every older commit has left the gate before `done` is
  /// called: the zombie is fenced at takeover. Writes on record (`Intents`) of an older token are
  /// the caller's: where there are any it settles them before it tells anybody of the lease, then
  /// calls `confirm`, or `give_back`.
  /// The same holder and request id while the lease is held: the same lease, its ttl not extended;
  /// while it waits, or is being granted: it keeps its place with the new `wait` (and the first
  /// call's ttl and lock-delay), and the older of the two calls is answered with `kLeaseHeld`.
  /// Success: the lease with its whole ttl left. Failure: `kMalformedRequest` (limits, keys,
  /// holder), `kLeaseHeld` (held by whom, and for how long at most, in `detail` and
  /// `retry_after_s`; also when `wait` is over; a holder that holds it itself under another request
  /// id waits as everybody does: leases are not reentrant), `kLeaseEnded` (this request id had a
  /// lease that has ended; remembered for its ttl after the end, for the last 131,072 of them, not
  /// over a restart), `kMalformedRequest` also for a request id that was used for other keys,
  /// `kOverloaded` (queue or table full: leases, waiters and keys under a lock-delay count),
  /// `kDraining` (older commits did not leave in time: the lease is released again, the marks stay
  /// raised), `kStaleToken` never: if somebody presents a still higher token meanwhile, a new one
  /// is taken, boundedly often, then `kDraining`. `kLedgerUnavailable` (no lease was given; if the
  /// ledger has stopped for good, the same request id may find one after the restart),
  /// `kConstraintFailed` (the tokens of a key have come to their end), `kShuttingDown`.
  virtual Attempt acquire(AcquireOrder order, base::Done<base::Result<LeaseView>> done) = 0;

  /// Nobody reads the answer any more: takes a waiting acquire out of the line (`done` gets
  /// `kClientGone`); a lease that is just being granted to it is released. Does nothing afterwards.
  virtual void cancel(Attempt attempt) = 0;

  /// The older writes on record have been settled, and the lease is about to be told: from now on
  /// `give_back` leaves it alone. Also for a lease that was `repeated`, whose first answer may
  /// still be giving it back. Success: the lease, with what is left of it. Failure: `kDraining`: it
  /// has ended meanwhile; a retry is told how.
  virtual base::Result<LeaseView> confirm(const base::FenceKey& key, const std::string& id) = 0;

  /// The older writes on record could not be settled, and nobody has been told of the lease: ends
  /// it as `release` does, but the same request id may take it afresh; the marks stay raised. Only
  /// by whoever was granted it first. Nothing if it has ended, or a repetition has confirmed it.
  virtual void give_back(const base::FenceKey& key, const std::string& id) = 0;

  /// Extends a lease: a whole ttl from now, never less than is left.
  /// `key`: any of the lease's. `ttl`: a new one, durable before `done`; without, the present one,
  /// and nothing is written. Success: the lease. Failure: `kLeaseEnded` (expired, although nobody
  /// else may have it; released; another id; unknown key), `kMalformedRequest`, and of the ledger.
  virtual void renew(const base::FenceKey& key, const std::string& id,
                     std::optional<base::Milliseconds> ttl,
                     base::Done<base::Result<LeaseView>> done) = 0;

  /// Ends a lease by its holder; no lock-delay. Success: durable; the keys are free. Failure:
  /// `kLeaseEnded`, harmless to whoever holds the key by now; and of the ledger, then the lease has
  /// ended for the holder, and expires durably.
  virtual void release(const base::FenceKey& key, const std::string& id,
                       base::Done<base::Result<void>> done) = 0;

  /// Ends the lease that holds `key`, for an operator: in one commit it ends, takes a new token and
  /// raises the marks of its keys; drained before `done`, as a grant; what is on record is the
  /// caller's here, too. Lock-delay follows. Success:
  /// what it did. Failure: `kNotFound` if nobody holds it; `kDraining` (it has ended, older commits
  /// have not left yet; or it is being revoked already); of the ledger: nothing was done. Nobody
  /// gets the keys before the drain is over.
  virtual void revoke(const base::FenceKey& key, base::Done<base::Result<Revoked>> done) = 0;

  /// What is known about a key; nothing if it is free and nobody waits.
  virtual std::optional<LeaseKeyView> show(const base::FenceKey& key) = 0;

  /// Leases of keys that start with `prefix` and come after `after`, by the bytes of the key; a
  /// lease of several keys is there for each of them, with that key first. At most `limit`.
  struct Listed {
    base::FenceKey key;
    LeaseView view;
  };
  virtual std::vector<Listed> list(const std::string& prefix, const std::string& after,
                                   std::size_t limit) = 0;

  /// Ends what is due: expired leases, waits and lock-delays that are over; hands over.
  /// Success: the time when something is due next; nothing if nothing is. Never early: a lease is
  /// valid until its deadline, and expired at it. Called by whoever keeps time (`LeaseTimer`), and
  /// by tests.
  virtual std::optional<base::MonotonicTime> run_due() = 0;

  /// Changes the limits; for those that come from now on.
  virtual void set_limits(const LeaseLimits& limits) = 0;

  /// Answers all that waits with `kShuttingDown`, as everything that comes after. Leases stay, also
  /// one that is just being granted: the same request id gets it after the restart. The store is
  /// not called any more.
  virtual void close() = 0;

  /// For metrics: leases that are held, and acquires that wait.
  struct Counts {
    std::size_t held = 0;
    std::size_t waiting = 0;
  };
  virtual Counts counts() = 0;
};

struct LessorParts {
  LeaseStore& store;
  Gate& gate;
  const base::Clock& clock;  ///< A `BoottimeClock`.
  /// Makes ids: 32 random hexadecimal digits; tests inject their own.
  std::function<std::string()> make_id;
  /// Called when something is due earlier than `run_due` said last; may be empty.
  std::function<void()> due_sooner = {};
  LeaseEvents events = {};
};

/// Reads what is stored and gives every lease its whole ttl. Blocks until the store has answered.
/// Everything in `parts` but the store must outlive the lessor, and what was started must have been
/// answered (`close`, then the ledger's end) before it goes. The destructor waits for callbacks
/// that are being called, so it is not called by one. Failure: of the ledger.
base::Result<std::unique_ptr<Lessor>> open_lessor(LessorParts parts, LeaseLimits limits);

}  // namespace fenceline::fencing
