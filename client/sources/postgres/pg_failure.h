#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "client/sources/postgres/pg_session.h"

namespace fenceline::client {

/// What a statement on the table of leases should get next, by its SQLSTATE.
enum class PgNext : std::uint8_t {
  kUse,        ///< It was done.
  kRepeat,     ///< It met another transaction; nothing was done.
  kMakeTable,  ///< There is no table.
  kGiveUp,     ///< See `error_of`.
};

/// Pure.
PgNext next_after(const PgAnswer& answer);

/// The error for an answer that says no; `create` is the SQL that makes the table. Pure.
base::Error error_of(const PgAnswer& answer, std::string_view table, std::string_view create);

/// What in the server's settings can make tokens fall or vanish, by the row of `LeaseSql::setup`.
/// Failure: `kUpstreamFailed` if the server is in recovery: what it gives is no grant. Pure.
base::Result<std::vector<std::string>> judge_setup(const PgRow& row, std::string_view table);

}  // namespace fenceline::client
