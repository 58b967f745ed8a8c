#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/token.h"
#include "fencing/lease/lease_change.h"
#include "fencing/lease/lease_store.h"
#include "fencing/mark_table.h"
#include "fencing/sqlite_connection.h"

namespace fenceline::fencing {

/// The tables of leases in an open ledger file, as prepared statements. The connection must outlive
/// it; one thread at a time. After a failure the caller rolls back.
class LeaseTable {
 public:
  static SqliteResult<LeaseTable> prepare(SqliteConnection& connection);

  /// What came of one change.
  struct Applied {
    base::Result<base::Token> answer;  ///< An error: nothing was changed, and the others go on.
    bool changed = false;
  };

  /// Carries one change out in the transaction that is open, as `LeaseStore` says; raises marks in
  /// `marks`.
  SqliteResult<Applied> apply(const LeaseChange& change, MarkTable& marks);

  /// All rows. One that no ledger writes fails with SQLITE_CORRUPT.
  SqliteResult<LeaseRecords> all();

 private:
  using Keys = std::vector<base::FenceKey>;

  SqliteResult<Applied> grant(const GrantOrder& order, MarkTable& marks);
  SqliteResult<Applied> end(const EndOrder& order, MarkTable& marks);
  SqliteResult<Applied> change_ttl(const TtlOrder& order);

  /// Whether another stored lease than `ended` has the id or a key of `order`.
  SqliteResult<bool> conflicts(const GrantOrder& order);
  /// Takes the token after the sequence and the marks of `keys`, and raises them to it; changes
  /// nothing if there is none left.
  SqliteResult<base::Result<base::Token>> take_token(const Keys& keys, std::string_view holder,
                                                     MarkTable& marks);
  SqliteResult<base::Token> last_token();
  SqliteResult<void> add(const Lease& lease, base::Token token);
  /// Whether there was anything to drop.
  SqliteResult<bool> drop(const std::vector<std::string>& ids, const Keys& delays_over);
  SqliteResult<void> put_delay(const LockDelay& delay);

  SqliteResult<std::vector<Lease>> all_leases();
  SqliteResult<std::vector<LockDelay>> all_delays();

  /// Runs a statement that gives no row; whether it changed one.
  SqliteResult<bool> run(SqliteStatement& statement);

  sqlite3* database_ = nullptr;
  SqliteStatement last_token_;
  SqliteStatement store_token_;
  SqliteStatement owner_of_id_;
  SqliteStatement owner_of_key_;
  SqliteStatement add_;
  SqliteStatement add_key_;
  SqliteStatement drop_;
  SqliteStatement drop_keys_;
  SqliteStatement set_ttl_;
  SqliteStatement put_delay_;
  SqliteStatement drop_delay_;
  SqliteStatement all_leases_;
  SqliteStatement all_delays_;
};

}  // namespace fenceline::fencing
