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
  std::size_t raises = 0;  ///< Raises in the transaction: the size of the group.
  double seconds = 0;      ///< From BEGIN until the commit was durable.
};

struct SqliteLedgerOptions {
  std::string path;
  /// Raises taken into one transaction at most.
  std::size_t max_group = 1024;
  /// Requests that may wait; beyond it `raise` and `find` fail with `kOverloaded`.
  std::size_t max_waiting = 65536;
  /// Called on the ledger's thread after each commit; may be empty.
  std::function<void(const LedgerCommit&)> on_commit;
};

/// Opens (or creates) the embedded ledger.
///
/// Does: takes an exclusive lock on the file for the life of the process, checks the format
/// version, and starts the one thread that owns the one connection: it writes *and* checkpoints
/// (SQLite before 3.51.3 can lose commits when another connection checkpoints), WAL with
/// `synchronous=FULL`, all waiting raises in one transaction.
/// Success: a ledger whose marks are those last acknowledged.
/// Failure: `kLedgerUnavailable` with a sentence for the operator: another process holds the file
/// (names the path), a format from a newer version, not a database, corrupt, not writable.
/// Ownership: the caller owns it; missing parent directories are created with mode 0700.
base::Result<std::unique_ptr<Ledger>> open_sqlite_ledger(SqliteLedgerOptions options);

}  // namespace fenceline::fencing
