#pragma once

#include <string>
#include <string_view>

namespace fenceline::client {

/// The statements over one table of leases: a row for each key that was ever locked, never deleted,
/// because it holds the last token. All times are the server's `clock_timestamp()`, which goes on
/// within a transaction. Each statement is one transaction, so a client that is paused never holds
/// a lock on a row.
struct LeaseSql {
  std::string create;

  /// $1 key, $2 attempt, $3 holder, $4 ttl in ms. One row or none: whether it was taken, the token,
  /// and if not: the holder and the milliseconds left. A repeated attempt gets its token again.
  std::string acquire;

  /// $1 key, $2 attempt, $3 token, $4 ttl in ms. A row if it is still held.
  std::string renew;

  /// $1 key, $2 attempt, $3 token. A row if it was held until now.
  std::string release;

  /// $1 key, $2 attempt, whatever its token. For a grant whose answer was lost.
  std::string give_back;

  /// $1 key, $2 attempt, $3 token. A row if `release` has been here.
  std::string was_released;

  /// $1 key. A row if it is held: token, holder, milliseconds left.
  std::string show;

  /// $1 the table as text. One row: fsync, full_page_writes, synchronous_commit,
  /// synchronous_standby_names, standbys attached, whether it is in recovery, the table's
  /// relpersistence or null.
  std::string setup;
};

/// `table` is quoted. Pure.
LeaseSql make_lease_sql(std::string_view table);

}  // namespace fenceline::client
