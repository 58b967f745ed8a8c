#pragma once

// Writers on record (design, 7; models d2, d3, d6): what a backend may still do after this process
// has ended. A write to somebody else's server is put on record, durably, before its last byte is
// sent, and taken off when its outcome is known. Whoever holds a newer permit first settles what
// older tokens have left behind.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fence_key.h"
#include "base/token.h"
#include "fencing/ledger.h"

namespace fenceline::fencing {

/// A write of unknown outcome: it may still take effect.
struct UnsettledIntent {
  Intent intent;
  /// When its connection was closed, or when this process found it on record at its start.
  base::MonotonicTime since;
};

class IntentsImpl;
struct IntentEntry;

/// One write that is on record and running. Move-only. Destroying it unfinished means that nobody
/// knows the outcome: it becomes unsettled. Must not outlive its `Intents`.
class RunningIntent {
 public:
  RunningIntent() = default;
  RunningIntent(RunningIntent&& other) noexcept;
  RunningIntent& operator=(RunningIntent&& other) noexcept;
  ~RunningIntent();

  /// The outcome is known, whatever it is. Idempotent.
  void finish();

  [[nodiscard]] bool running() const { return entry_ != nullptr; }

 private:
  friend class IntentsImpl;
  RunningIntent(IntentsImpl* intents, IntentEntry* entry) : intents_(intents), entry_(entry) {}

  IntentsImpl* intents_ = nullptr;
  IntentEntry* entry_ = nullptr;
};

/// All writers on record. Thread-safe: used by all cores, each key behind the mutex of its shard.
/// Callbacks are called without any lock held, exactly once, possibly inside the call.
///
/// A shared intent stays on record when it is finished, so that the next write finds it there:
/// until a newer token of the key puts one on record, until it has been idle for 10 seconds and
/// either any write ends or `sweep` is called, or until `close`. If the process ends before, the
/// next start finds it unsettled.
class Intents {
 public:
  /// `ledger` and `clock` outlive every call; the ledger's last answers may come when this is gone.
  Intents(Ledger& ledger, const base::Clock& clock);
  ~Intents();
  Intents(const Intents&) = delete;
  Intents& operator=(const Intents&) = delete;

  /// Reads what is on record; all of it is unsettled, since now. Call once, before anything else;
  /// blocks, up to a minute. Failure: `kLedgerUnavailable`.
  base::Result<void> load();

  /// Puts a write on record, if `shared` only once for all running and finished writes with equal
  /// key, token, route and data.
  /// Does: in the same transaction takes off what older tokens of the key have finished.
  /// Success: durable; the write may be committed. Failure: `kLedgerUnavailable`, `kOverloaded`;
  /// the write must not be committed, and nothing is left of it. Who stops waiting for `done` and
  /// has sent nothing must `finish` what comes late: see `put_on_record`.
  void begin(Intent intent, bool shared, base::Done<base::Result<RunningIntent>> done);

  /// As `begin`, for a shared one that is on record already; nothing otherwise: then call `begin`.
  std::optional<RunningIntent> try_begin(const Intent& intent);

  /// True if any intent of any key is unsettled. One atomic load.
  [[nodiscard]] bool any_unsettled() const { return unsettled_count() > 0; }

  /// How many intents are unsettled, for a metric.
  [[nodiscard]] std::size_t unsettled_count() const;

  /// The unsettled intents of `key` with a token below `token`, oldest first.
  std::vector<UnsettledIntent> unsettled_below(const base::FenceKey& key, base::Token token);

  /// All unsettled intents of `key`, oldest first.
  std::vector<UnsettledIntent> unsettled_of(const base::FenceKey& key);

  /// All of them in their order (key, token, route, data), at most `limit`, those behind `after`
  /// (of which nothing need be there), keys that start with `prefix`.
  std::vector<UnsettledIntent> list_unsettled(std::string_view prefix, std::size_t limit,
                                              const std::optional<Intent>& after = {});

  /// It can take no effect any more (revoked, waited for, or told by an operator): forgets it, and
  /// has it taken off the record, which nobody waits for. Writes of an equal shared intent that run
  /// go on. False if it was not unsettled.
  bool settle(const Intent& intent);

  /// Takes off the record what has been idle for long; nobody waits for that. All that is due goes
  /// to the ledger at once, so it is few commits; called more than once in a second it does
  /// nothing. True while anything is left that will come off by itself: call again in a second.
  /// From any thread; whoever keeps time calls it, so that an idle server's record becomes empty.
  bool sweep();

  /// Takes everything finished off the record; for a graceful stop, when nothing runs any more.
  /// Blocks until the ledger has answered, up to ten seconds. Not on the ledger's own thread.
  void close();

 private:
  std::shared_ptr<IntentsImpl> impl_;  // the ledger's callbacks share it
};

}  // namespace fenceline::fencing
