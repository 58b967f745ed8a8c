#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "fencing/reset.h"
#include "fencing/sqlite_connection.h"

namespace fenceline::fencing {

/// The audit of resets in an open ledger file, as prepared statements. Rows are only added. The
/// connection must outlive it; one thread at a time. After a failure the caller rolls back.
class ResetTable {
 public:
  static SqliteResult<ResetTable> prepare(SqliteConnection& connection);

  /// Adds a row for `key`, in the transaction that is open.
  SqliteResult<void> add(std::string_view key, const ResetRecord& record);

  /// The last `limit` rows of `key`, the newest first. A row that no ledger writes fails with
  /// SQLITE_CORRUPT.
  SqliteResult<std::vector<ResetRecord>> latest(std::string_view key, std::size_t limit);

 private:
  SqliteStatement add_;
  SqliteStatement latest_;
};

}  // namespace fenceline::fencing
