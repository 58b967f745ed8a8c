#pragma once

// What a failure of SQLite means for the request, for the group and for the route.

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/sqlite_connection.h"

namespace fenceline::backends::sqlite {

/// How far a failure reaches.
enum class Reach : std::uint8_t {
  kStatement,  ///< One statement's own fault (a constraint, a type, its time): others go on.
  kMoment,     ///< The database cannot be used now: busy, full, out of memory, a failed read.
  kForGood,    ///< The file cannot be trusted until restart: a failed fsync, a corrupt page.
};

/// Pure.
Reach reach_of(const base::SqliteFailure& failure);

/// Names the database in messages. The path is for the operator; a client learns the file's name.
struct DatabaseName {
  std::string path;

  [[nodiscard]] std::string file() const;
};

/// The error for a request whose statement failed with `failure`, with `applied: no`.
/// `kConstraintFailed` (SQLite's words) for a constraint or a value of the wrong type,
/// `kOverloaded` for busy, locked, interrupted and out of memory, `kInsufficientStorage` for a full
/// disk, `kStorageFailed` for all else. `doing`: "write "a" into".
base::Error error_of(const base::SqliteFailure& failure, const DatabaseName& database,
                     std::string_view doing);

/// The error for the start of the process: names the path, the reason and the fix.
base::Error cannot_open(const base::SqliteFailure& failure, const std::string& path);

}  // namespace fenceline::backends::sqlite
