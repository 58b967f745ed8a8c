#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async.h"
#include "base/error.h"
#include "base/fence_key.h"
#include "base/token.h"
#include "fencing/decide.h"
#include "fencing/ledger.h"
#include "fencing/mark.h"

namespace fenceline::fencing {

class Gate;
struct KeyState;

/// The outcome of a commit, as the gate needs to know it.
enum class Settlement : std::uint8_t {
  kApplied,     ///< The effect is durable.
  kNotApplied,  ///< There is no effect and there will be none.
  kInDoubt,     ///< Unknown: newer tokens are refused (`draining`) until it is resolved.
};

/// Proof of admission at arrival (step 1). Move-only. Holds the key in memory, nothing else: other
/// tickets, also of newer tokens, are not hindered. Must not outlive its Gate.
class Ticket {
 public:
  Ticket() = default;
  Ticket(Ticket&& other) noexcept;
  Ticket& operator=(Ticket&& other) noexcept;
  /// Forgets a pending `Gate::enter`; its callback is dropped uncalled.
  ~Ticket();

  [[nodiscard]] base::Token token() const { return token_; }
  /// True if this admission announced a higher token: a takeover.
  [[nodiscard]] bool took_over() const { return took_over_; }
  /// The mark before this admission.
  [[nodiscard]] base::Token previous() const { return previous_; }

 private:
  friend class Gate;
  Gate* gate_ = nullptr;
  KeyState* state_ = nullptr;
  base::Token token_;
  base::Token previous_;
  bool took_over_ = false;
  std::uint64_t id_ = 0;
  std::uint64_t resets_ = 0;  ///< Resets of the key before this admission.
};

/// Proof that a commit is inside (step 3). Move-only. Whoever performs the effect owns it.
/// Destroying it unsettled means that nobody knows the outcome: it settles as in doubt.
class Permit {
 public:
  Permit() = default;
  Permit(Permit&& other) noexcept;
  Permit& operator=(Permit&& other) noexcept;
  ~Permit();

  [[nodiscard]] bool inside() const { return state_ != nullptr; }

  /// Leaves the gate (step 6), only after the effect is durable. Wakes whoever waits. Idempotent:
  /// later calls do nothing. Thread-safe against everything but other calls on this permit.
  /// Success: the announced mark at that moment, as `Gate::highest`; no token if it had left.
  base::Token settle(Settlement outcome);

 private:
  friend class Gate;
  Gate* gate_ = nullptr;
  KeyState* state_ = nullptr;
  base::Token token_;
};

/// What the gate knows about one key, for the admin API.
struct KeyView {
  Mark announced;
  bool durable = false;
  std::size_t inside = 0;
  std::size_t waiting = 0;
  std::vector<base::Token> unsettled;
};

/// Whether an admission announces its token, or only decides.
enum class Announce : std::uint8_t { kYes, kNo };

struct GateOptions {
  /// Keys kept in memory when idle; others cost one point lookup in the ledger.
  std::size_t max_cached_keys = 1U << 20U;
  /// Idle keys whose state is kept ready, about 450 bytes each; of the other idle ones only the
  /// mark is kept, packed.
  std::size_t max_warm_keys = 1U << 14U;
  /// The tokens of writes on record whose outcome is unknown (`Intents::unsettled_of`): a reset is
  /// refused while a key has any. Called with the key's mutex held, so it must not call the gate;
  /// may be empty.
  std::function<std::vector<base::Token>(const base::FenceKey&)> unsettled_on_record = {};
};

/// Per-key admission plus drain: steps 1, 3 and 6 of the protocol (design, 3; model d1).
///
/// Thread-safe: used by all cores, each key behind the mutex of its shard. Callbacks are called
/// without any lock held, exactly once, possibly inside the call that completes them.
class Gate {
 public:
  /// `ledger` must outlive every call; destroy the ledger before the gate, so that its last
  /// answers find the gate alive.
  Gate(Ledger& ledger, GateOptions options);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// Step 1, ADMIT.
  /// Does: looks the mark up (in memory, else in the ledger) and decides. A token above the mark
  /// is announced at once, so that older ones are refused from now on, and its durable raise
  /// starts; it runs while the body is staged.
  /// Success: a ticket. Failure: `kStaleToken`, `kHolderConflict`, `kTokenTooFarAhead`,
  /// `kLedgerUnavailable`, `kOverloaded`. A refusal never raises a mark.
  /// Ownership: `key` and `claim` are copied where they are needed after the call.
  void admit(const base::FenceKey& key, const Claim& claim, Announce announce,
             base::Done<base::Result<Ticket>> done);

  /// As `admit`, when the mark is in memory; nothing otherwise: then call `admit`.
  std::optional<base::Result<Ticket>> try_admit(const base::FenceKey& key, const Claim& claim,
                                                Announce announce = Announce::kYes);

  /// Step 3, ENTER.
  /// Does: waits until the ticket's mark is durable and no commit with a lower token is inside;
  /// in the same indivisible step re-checks that the token is still the newest and counts the
  /// caller in. Every request waits for the drain, not only the one that raised.
  /// Success: a permit. Failure: `kStaleToken` (somebody newer came meanwhile), `kDraining` (an
  /// older commit is in doubt, or `abandon`), `kLedgerUnavailable` (the raise failed, or `abandon`
  /// while it was not durable yet).
  /// Concurrency: one call per ticket at a time; keep the ticket until `done` was called.
  void enter(Ticket& ticket, base::Done<base::Result<Permit>> done);

  /// As `enter`, when no waiting is needed; nothing otherwise: then call `enter`. The ticket of a
  /// permit is spent: what it held in memory the permit holds.
  std::optional<base::Result<Permit>> try_enter(Ticket& ticket);

  /// Ends a pending `enter` of this ticket at its deadline: its callback gets the failure. Does
  /// nothing if it was already called.
  void abandon(Ticket& ticket);

  /// The outcome of a commit that was settled in doubt has become known: forgets one unsettled
  /// `token` of `key` and wakes whoever waits. False if there is none.
  bool resolve(const base::FenceKey& key, base::Token token);

  /// Sets the mark of `key` back, for an operator (design, 7).
  /// Does: refuses while anybody is inside, in doubt, on record and unsettled, or raising the mark;
  /// it starts the raise that it is refused for, if nobody does. Else it has the ledger carry
  /// `order` out. Until the ledger has answered, nobody is admitted and nobody enters; what was
  /// admitted before never enters, so that no write that was overtaken once comes back. Success:
  /// what it did; durable. Failure: `kFenceBusy`; `kMarkConflict` or `kNotFound`, as `answer_of`;
  /// `kOverloaded`; `kLedgerUnavailable`, then `applied` says whether it is in doubt: the key stays
  /// closed until the ledger has said what is stored. Precondition: `order` has passed
  /// `check_order`.
  void reset(const base::FenceKey& key, const ResetOrder& order,
             base::Done<base::Result<ResetOutcome>> done);

  /// What is known in memory; nothing if the key is not cached.
  std::optional<KeyView> view(const base::FenceKey& key);

  /// The announced mark, for `Fencing-Highest`; no token if the key is not cached.
  base::Token highest(const base::FenceKey& key);

  /// Keys in memory.
  [[nodiscard]] std::size_t cached_keys() const;

 private:
  friend class Ticket;
  friend class Permit;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fenceline::fencing
