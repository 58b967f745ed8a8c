#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "fencing/key_range.h"
#include "fencing/ledger.h"
#include "fencing/mark.h"
#include "fencing/sqlite_connection.h"

namespace fenceline::fencing {

/// The table of marks in an open ledger file, as prepared statements. The connection must outlive
/// it; one thread at a time. After a failure the caller rolls back.
class MarkTable {
 public:
  static SqliteResult<MarkTable> prepare(SqliteConnection& connection);

  /// The mark of `key`; one without a token if there is no row. A row that no ledger writes fails
  /// with SQLITE_CORRUPT.
  SqliteResult<Mark> find(std::string_view key);

  /// Writes the row of `key`. `mark` must have a token.
  SqliteResult<void> store(std::string_view key, const Mark& mark);

  /// The first `limit` rows of `range`, in byte order.
  SqliteResult<std::vector<KeyedMark>> scan(const KeyRange& range, std::size_t limit);

  SqliteResult<void> begin() { return run(begin_); }
  SqliteResult<void> commit() { return run(commit_); }

  /// Gives the open transaction up; does nothing if the failure has already ended it.
  SqliteResult<void> roll_back();

 private:
  static SqliteResult<void> run(SqliteStatement& statement);

  sqlite3* database_ = nullptr;
  SqliteStatement find_;
  SqliteStatement store_;
  SqliteStatement scan_;
  SqliteStatement begin_;
  SqliteStatement commit_;
  SqliteStatement roll_back_;
};

}  // namespace fenceline::fencing
