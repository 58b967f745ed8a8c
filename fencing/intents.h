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

class Intents;

/// One write that is on record and running. Move-only. Destroying it unfinished means that nobody
/// knows the outcome: it becomes unsettled.
class RunningIntent {
 public:
  RunningIntent() = default;
  RunningIntent(RunningIntent&& other) noexcept;
  RunningIntent& operator=(RunningIntent&& other) noexcept;
  ~RunningIntent();

  /// The outcome is known, whatever it is. Idempotent.
  void finish();

 private:
  friend class Intents;
  Intents* intents_ = nullptr;
  void* entry_ = nullptr;
};

/// All writers on record. Thread-safe: used by all cores.
class Intents {
 public:
  /// `ledger` and `clock` outlive it.
  Intents(Ledger& ledger, const base::Clock& clock);
  ~Intents();
  Intents(const Intents&) = delete;
  Intents& operator=(const Intents&) = delete;

  /// Reads what is on record; all of it is unsettled, since now. Call once, before anything else;
  /// blocks. Failure: `kLedgerUnavailable`.
  base::Result<void> load();

  /// Puts a write on record, if `shared` only once for all running and finished writes with equal
  /// key, token, route and data.
  /// Precondition: the caller holds the permit for `intent.token` and has settled everything older.
  /// Does: in the same transaction takes off what older tokens of the key have finished.
  /// Success: durable; the write may be committed. Failure: `kLedgerUnavailable`, `kOverloaded`;
  /// the write must not be committed.
  void begin(Intent intent, bool shared, base::Done<base::Result<RunningIntent>> done);

  /// As `begin`, for a shared one that is on record already; nothing otherwise.
  std::optional<RunningIntent> try_begin(const Intent& intent);

  /// True if any intent of any key is unsettled. One atomic load.
  [[nodiscard]] bool any_unsettled() const;

  /// The unsettled intents of `key` with a token below `token`, oldest first.
  std::vector<UnsettledIntent> unsettled_below(const base::FenceKey& key, base::Token token);

  /// All of them, in the order of their keys, at most `limit`, keys that start with `prefix`.
  std::vector<UnsettledIntent> list_unsettled(std::string_view prefix, std::size_t limit);

  /// It can take no effect any more (revoked, waited for, or told by an operator): forgets it, and
  /// takes it off the record in time. False if it was not there.
  bool settle(const Intent& intent);

  /// Takes everything finished off the record; for a graceful stop. Blocks.
  void close();
};

}  // namespace fenceline::fencing
