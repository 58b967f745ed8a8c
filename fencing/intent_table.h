#pragma once

#include <optional>
#include <vector>

#include "fencing/ledger.h"
#include "fencing/sqlite_connection.h"

namespace fenceline::fencing {

/// The table of intents in an open ledger file, as prepared statements. The connection must outlive
/// it; one thread at a time. After a failure the caller rolls back.
class IntentTable {
 public:
  static SqliteResult<IntentTable> prepare(SqliteConnection& connection);

  /// Drops `drop`, then adds `put`, in the transaction that is open.
  /// Success: whether that changed anything.
  SqliteResult<bool> apply(const std::optional<Intent>& put, const std::vector<Intent>& drop);

  /// All rows in the order of the table's key. A row that no ledger writes fails with
  /// SQLITE_CORRUPT.
  SqliteResult<std::vector<Intent>> all();

 private:
  /// Whether it changed a row.
  SqliteResult<bool> run(SqliteStatement& statement, const Intent& intent);

  sqlite3* database_ = nullptr;
  SqliteStatement put_;
  SqliteStatement drop_;
  SqliteStatement all_;
};

}  // namespace fenceline::fencing
