#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/error.h"
#include "base/fence_key.h"
#include "fencing/answer_store.h"
#include "fencing/lease/lease_store.h"
#include "fencing/mark.h"
#include "fencing/reset.h"

namespace fenceline::fencing {

/// One row of a scan.
struct KeyedMark {
  std::string key;
  Mark mark;
};

/// A writer on record (design, 7): a write that may take effect after this process has ended.
struct Intent {
  std::string key;
  base::Token token;
  std::string route;  ///< The name of the route whose backend can revoke it.
  std::string data;   ///< For that backend; visible ASCII, at most 2 KiB.

  friend auto operator<=>(const Intent&, const Intent&) = default;
};

/// The durable table of marks (design, 7). Marks are never deleted and never expire: a forgotten
/// mark is an open gate. They go up, except by `reset`. It stores leases too (`LeaseStore`): a
/// grant and the marks it raises are one commit.
class Ledger : public LeaseStore {
 public:
  /// Answers everything that waits (`kShuttingDown` for what was not begun), then closes.
  ~Ledger() override = default;

  /// Durable monotonic maximum.
  /// Does: stores `merged(stored, offered)`; offered without a token, it answers as `find`.
  /// Success: `done` gets the mark after the call; it is durable, survives kill -9 and power loss.
  /// Failure: `kLedgerUnavailable` (disk full, I/O error, corrupt file) or `kShuttingDown`; the
  /// stored mark may or may not have changed, repeating the call is safe. After a failure whose
  /// effect on the file is unknown the ledger keeps refusing rather than guess.
  /// Concurrency: thread-safe; `done` is called exactly once, from any thread, possibly inside
  /// the call; it must not block.
  virtual void raise(const base::FenceKey& key, const Mark& offered,
                     base::Done<base::Result<Mark>> done) = 0;

  /// Looks one key up.
  /// Success: the durable mark; one without a token if the key was never fenced.
  /// Failure and concurrency: as `raise`.
  virtual void find(const base::FenceKey& key, base::Done<base::Result<Mark>> done) = 0;

  /// Lists marks in byte order of their keys.
  /// Does: returns up to `limit` rows whose key starts with `prefix` and is greater than `after`
  /// (empty: from the beginning). Pass the last key back as `after` to go on.
  /// Success: the rows, fewer than `limit` only at the end. Failure and concurrency: as `raise`.
  virtual void scan(std::string prefix, std::string after, std::size_t limit,
                    base::Done<base::Result<std::vector<KeyedMark>>> done) = 0;

  /// Sets a mark back, for an operator.
  /// Does: stores what `reset_mark` makes of the stored mark and adds the audit's row, both or
  /// neither. A verdict other than `kApplies` changes nothing. Knows nothing of who is inside: only
  /// the gate calls it (`Gate::reset`), and `order` has passed `check_order`.
  /// Success: the outcome; it is durable. Failure: as `raise`; it is in doubt, until the next
  /// `find` says what is stored, unless `applied` is no. Concurrency: as `raise`.
  virtual void reset(const base::FenceKey& key, const ResetOrder& order,
                     base::Done<base::Result<ResetOutcome>> done) = 0;

  /// The resets that a key has had.
  /// Success: up to `limit` of them, the newest first. Failure and concurrency: as `raise`.
  virtual void resets(const base::FenceKey& key, std::size_t limit,
                      base::Done<base::Result<std::vector<ResetRecord>>> done) = 0;

  /// Puts an intent on record and takes others off, both or neither.
  /// Does: adds `put`, which is only there once, and drops each of `drop`, which need not be there;
  /// an intent that is in both is on record afterwards. Calls that were made one after the other
  /// take effect in that order, together with those of `drop_intents`.
  /// Success: durable. Failure: as `raise`; nothing else of the call's was done, or it is not known
  /// and the ledger refuses everything until it is opened again. Concurrency: as `raise`.
  virtual void put_intent(Intent put, std::vector<Intent> drop,
                          base::Done<base::Result<void>> done) = 0;

  /// Takes intents off the record.
  /// Does: drops each of `drop`, all or none; those that are not there are dropped already.
  /// Success: durable; also for an empty list, when all earlier calls have taken effect. Failure
  /// and concurrency: as `put_intent`.
  virtual void drop_intents(std::vector<Intent> drop, base::Done<base::Result<void>> done) = 0;

  /// Lists what is on record.
  /// Success: every intent, in the order of key (byte by byte), token, route and data. Failure and
  /// concurrency: as `raise`.
  virtual void list_intents(base::Done<base::Result<std::vector<Intent>>> done) = 0;

  /// The answers that are kept for idempotency keys; null for a ledger that is not durable. Lives
  /// as long as the ledger.
  virtual AnswerStore* answers() { return nullptr; }

  /// Names this set of marks, so that who relies on them notices another ledger in its place.
  /// Does: gives the text that was made at random when the ledger was created; a copy that is
  /// restored from a backup keeps it, a ledger that is created anew has another.
  /// Success: 32 lower-case hexadecimal digits. Failure: none.
  /// Concurrency: thread-safe; constant for the life of the ledger, and from one opening to the
  /// next.
  [[nodiscard]] virtual std::string identity() const = 0;
};

/// A ledger in memory, for tests: nothing is durable.
std::unique_ptr<Ledger> make_memory_ledger();

}  // namespace fenceline::fencing
