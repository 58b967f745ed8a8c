#pragma once

// The marks inside the database, so that they share a transaction with the data (docs/sqlite.md).

#include <string>
#include <string_view>

#include "backends/sqlite/connection.h"
#include "base/error.h"
#include "base/token.h"

namespace fenceline::backends::sqlite {

/// Makes the table `marks` (`key TEXT PRIMARY KEY, token INTEGER`) if there is none.
/// Failure: those of `cannot_open`; `kStorageFailed` if a table of that name has another shape.
base::Result<void> make_marks_table(Connection& writer, const std::string& marks,
                                    const std::string& path);

/// The SQL on one table of marks. Plain data; thread-safe.
class Marks {
 public:
  explicit Marks(const std::string& table);

  /// Prepares all of it. Failure: the table does not fit.
  SqliteResult<void> prepare(Connection& connection) const;

  /// The mark of `key`; no token if there is none.
  SqliteResult<base::Token> find(Connection& connection, std::string_view key) const;

  /// Raises the mark of `key` to `token` if it is below, in the transaction that is open.
  /// Success: the mark afterwards; above `token` if that is stale, and nothing was changed.
  SqliteResult<base::Token> raise(Connection& writer, std::string_view key,
                                  base::Token token) const;

  /// Sets the mark of `key`; no token: removes it. In the transaction that is open.
  SqliteResult<void> set(Connection& writer, std::string_view key, base::Token to) const;

 private:
  std::string find_;
  std::string store_;
  std::string remove_;
};

/// The error for a token that is below `mark`.
base::Error stale(base::Token token, base::Token mark);

}  // namespace fenceline::backends::sqlite
