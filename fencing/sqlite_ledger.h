#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "fencing/ledger.h"

namespace fenceline::fencing {

/// What one commit of the ledger cost, for metrics.
struct LedgerCommit {
  std::size_t raises = 0;   ///< Raises in the transaction.
  std::size_t intents = 0;  ///< Changes of the intents on record in it.
  std::size_t leases = 0;   ///< Grants, ends and changes of leases in it.
  double seconds = 0;       ///< From BEGIN until the commit was durable.
};

/// Why the ledger refuses requests, for the log.
struct LedgerFailure {
  std::string text;  ///< For the operator: what could not be done, file, reason, what now.
  bool until_restart = false;  ///< The ledger has stopped for good; otherwise it tries again.
};

struct SqliteLedgerOptions {
  std::string path;
  /// Raises, changes of intents, and changes of leases, each taken into one transaction at most.
  std::size_t max_group = 1024;
  /// Requests that may wait; beyond it `raise` and `find` fail with `kOverloaded`.
  std::size_t max_waiting = 65536;
  /// Called on the ledger's thread after each commit and before its requests are answered; may be
  /// empty. It holds the ledger up, so it only counts.
  std::function<void(const LedgerCommit&)> on_commit;
  /// Called on the ledger's thread when it begins to refuse requests (once until a raise succeeds
  /// again), and when it stops for good; may be empty.
  std::function<void(const LedgerFailure&)> on_failure;
  /// Called while the ledger is opened, with the file's absolute path, if it holds no mark: it was
  /// made now, or by an earlier start that fenced nothing; may be empty.
  std::function<void(const std::string& path)> on_no_marks;
  /// Called while the ledger is opened, with the file's absolute path, if it had an older format
  /// and has the present one now; may be empty.
  std::function<void(const std::string& path, int from, int to)> on_upgraded;
};

/// Opens (or creates) the embedded ledger.
///
/// Does: takes an exclusive lock on the file for the life of the ledger, checks the format version,
/// and starts the one thread that owns the one connection: it writes *and* checkpoints (SQLite
/// before 3.51.3 can lose commits when another connection checkpoints), WAL with
/// `synchronous=FULL`, all waiting raises in one transaction. No program may open the file
/// meanwhile, and this process must not open it elsewhere. Beside it: `<path>-wal` (the log) and
/// `<path>.lock`.
/// Success: a ledger whose marks are at least those last acknowledged, all of them durable.
/// Failure: `kLedgerUnavailable` with a sentence for the operator: another process holds the file
/// (named by its id), a format from a newer version, not a ledger, damaged, truncated, not
/// writable, disk full.
/// Ownership: the caller owns it; missing parent directories are created with mode 0700.
///
/// When a request fails with `kLedgerUnavailable`, nothing of its group was acknowledged, and:
/// - disk full (ENOSPC; EDQUOT and EFBIG on a write), out of memory, a failed read: the group was
///   rolled back; later requests are tried and succeed when the cause is gone.
/// - any other I/O error (a failed fsync above all: the kernel may have dropped the data and report
///   success the next time), a damaged file, a file that was moved or deleted: what the file holds
///   is unknown, so every request, also `find`, is refused until restart. Opening it again then
///   rewrites the log into the file, so that what is read is durable.
///
/// A call that hangs in a dead disk cannot be cancelled: whoever waits keeps the deadline, and the
/// destructor, which must not run on the ledger's own thread, waits for it too.
base::Result<std::unique_ptr<Ledger>> open_sqlite_ledger(SqliteLedgerOptions options);

}  // namespace fenceline::fencing
