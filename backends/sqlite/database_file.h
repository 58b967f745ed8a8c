#pragma once

#include <memory>
#include <string>

#include "backends/sqlite/connection.h"
#include "backends/sqlite/database_lock.h"
#include "base/clock.h"
#include "base/error.h"

namespace fenceline::backends::sqlite {

/// The absolute path of the database at `path`, symlinks followed. Failure: `kStorageFailed`.
base::Result<std::string> canonical_path(const std::string& path);

/// A database that is locked against other fencelines, checked and ready.
struct DatabaseFile {
  std::string path;  ///< Absolute, without symlinks.
  DatabaseLock lock;
  std::unique_ptr<Connection> writer;  ///< The only one that writes and checkpoints.
  std::unique_ptr<Connection> guard;   ///< Keeps writers out while the writer checkpoints.
};

/// Opens the database at the canonical `path`, or makes an empty one.
///
/// Does: makes missing folders (mode 0700, durable), takes the lock, makes the file if there is
/// none (under another name, renamed when it is complete), checks what it is before changing
/// anything, switches it to WAL with `synchronous=FULL`, makes the table of marks, and copies the
/// whole log into the file: what a predecessor left only in the page cache, after a failed fsync,
/// is durable from here on.
/// Failure: `kStorageFailed` or `kInsufficientStorage` with a sentence for the operator that names
/// the file. Blocks on the disk, and up to `busy` on other processes' locks.
base::Result<DatabaseFile> open_database_file(const std::string& path, const std::string& marks,
                                              base::Milliseconds busy);

/// Copies as much of the log into the file as readers let it. Both connections are of one database.
/// Does: keeps every writer, of any process, out meanwhile: a write that races a checkpoint can be
/// lost (SQLite's WAL-reset bug, up to 3.51.2).
/// Success: false if another process was writing, so that nothing was copied.
SqliteResult<bool> checkpoint(Connection& writer, Connection& guard);

}  // namespace fenceline::backends::sqlite
