#pragma once

// An SQLite database behind a route (design, 8): documents in a table, named statements, and the
// mark of each fence key in the same database, raised in the transaction of the write.
// docs/sqlite.md is its contract towards clients and other processes.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/worker_pool.h"

namespace fenceline::backends {

/// The columns of a table of documents. `key` and `value` must exist in a table that is there
/// already; the others may be missing in it, unless they are named otherwise than here, and one
/// whose name is empty is not there for us.
struct SqliteColumns {
  std::string key = "name";
  std::string value = "body";
  std::string content_type = "content_type";
  std::string etag = "etag";
  std::string modified = "modified";  ///< Seconds since 1970, an integer.
  std::string token = "token";        ///< With `request_id`: the stamp.
  std::string request_id = "request_id";
};

/// What a named statement may do.
enum class StatementMode : std::uint8_t {
  kRead,   ///< Reads only; runs beside the writes, and needs no token.
  kWrite,  ///< One transaction, fenced.
};

struct SqliteStatementOptions {
  std::string name;  ///< The last segment of the path: letters, digits, `-`, `_`, `.`.
  StatementMode mode = StatementMode::kWrite;
  std::string sql;  ///< One or more statements with named parameters.
};

/// What `open_sqlite_backend` needs.
struct SqliteOptions {
  /// The database; made, with its folders (mode 0700), if it is missing.
  std::string database;

  /// The table of documents, made if it is missing, unless it is `mapped`: somebody else's. Empty:
  /// no documents, only statements.
  std::string table = "documents";
  bool mapped = false;
  SqliteColumns columns = {};

  /// The table of the marks, made if it is missing. All routes on one database share one.
  std::string marks = "fenceline_marks";

  std::vector<SqliteStatementOptions> statements = {};

  /// Keep answers for idempotency keys: makes the table `fenceline_answers` if it is missing.
  bool keeps_answers = false;

  /// The largest body: a document's, a statement's parameters, and a statement's result.
  std::size_t max_body_bytes = std::size_t{16} << 20;

  /// How long a lock of another process is waited for, and how long a statement may run.
  base::Milliseconds busy_timeout{5'000};
  base::Milliseconds statement_timeout{10'000};

  /// Runs the reads. Must outlive the backend.
  base::WorkerPool& pool;

  /// Called once, from any thread, when the database is taken out of service for writes until
  /// restart. Must not block and not throw. May be empty.
  std::function<void(const std::string& message)> on_failure = {};

  /// Called after each commit, from the writer's thread, with the writes that shared it and the
  /// seconds that it took. Must not block and not throw. May be empty.
  std::function<void(std::size_t writes, double seconds)> on_commit = {};
};

/// Opens an SQLite database as a backend.
///
/// Does: takes the lock `<database>.lock` against other fencelines, switches the database to WAL
/// with `synchronous=FULL`, makes the tables that are missing, checks those that are there, and
/// prepares every statement. A database that this process has open already is shared: its writing
/// thread and its marks, then also its hooks and its `busy_timeout`.
///
/// Success: the backend; `kStrict`. Its entity tags are strong. Where the table has a column for
/// them they never repeat; where it has none, they are made of content and type.
/// Failure: `kStorageFailed`, `kInsufficientStorage` with a sentence for the operator that names
/// the file and says what to do: no permission, read-only, no database, damaged, in use by another
/// fenceline, locked by another process, a table of another shape, a statement that cannot be
/// prepared or that writes although its mode is `read`.
/// Concurrency: blocks; for the start of the process. The result is thread-safe.
base::Result<std::unique_ptr<Backend>> open_sqlite_backend(SqliteOptions options);

}  // namespace fenceline::backends
