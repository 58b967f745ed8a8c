#pragma once

#include <string>

#include "base/error.h"
#include "fencing/ledger_format.h"
#include "fencing/ledger_lock.h"
#include "fencing/sqlite_connection.h"

namespace fenceline::fencing {

/// A ledger file that is locked, checked and ready.
struct LedgerFile {
  std::string path;  ///< Absolute, without symlinks.
  LedgerLock lock;   ///< Before the connection: released after it has been closed.
  SqliteConnection connection;
  LedgerContents contents;
};

/// Opens the ledger at `path`, or makes a new one.
///
/// Does: resolves the path, makes missing folders (mode 0700, durable), takes the lock, makes the
/// file if there is none (under another name, renamed when it is complete, so that an empty file is
/// never ours), checks what it is before changing anything, switches to WAL with
/// `synchronous=FULL` and the exclusive lock, and copies the whole log into the file: what a
/// predecessor left only in the page cache, after a failed fsync, is durable from here on. A ledger
/// of an older format is brought to the present one last.
/// Success: an open file whose every readable mark is durable.
/// Failure: `kLedgerUnavailable` with a sentence for the operator that names the file; the file is
/// as it was.
/// Concurrency: any thread; it blocks on the disk.
base::Result<LedgerFile> open_ledger_file(const std::string& path);

}  // namespace fenceline::fencing
