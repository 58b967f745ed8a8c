#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sqlite/connection.h"
#include "backends/sqlite/parameters.h"
#include "backends/sqlite/sqlite_backend.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/http.h"

namespace fenceline::backends::sqlite {

/// A named statement that has been checked. Plain data; thread-safe.
struct NamedStatement {
  std::string name;
  StatementMode mode = StatementMode::kWrite;
  std::vector<std::string> parts;       ///< Its SQL statements, in order.
  std::vector<std::string> parameters;  ///< Without `:`; sorted, each once.
};

/// Checks a statement by preparing all of its parts.
/// Failure: `kStorageFailed` with a sentence that names the file `path`, the statement, the reason
/// and the fix: bad SQL, a write although it only reads, anything but data (transactions, schema,
/// PRAGMA, ATTACH, the marks), parameters without a name, result columns with one name. Blocks for
/// a moment.
base::Result<NamedStatement> open_statement(Connection& writer,
                                            const SqliteStatementOptions& options,
                                            const std::string& path);

/// The limits of one run.
struct RunLimits {
  base::Milliseconds time;
  std::size_t result_bytes = 0;
};

/// Runs all parts, in the transaction that is open, with all of `parameters` bound.
/// Success: `{"rows":[{"column":value,…},…],"changes":n}`: the rows of the last part that has
/// columns; values as in `parse_parameters`, integers with all their digits; the number of rows
/// that INSERT, UPDATE and DELETE changed, without triggers.
/// Failure (outer): of SQLite. Failure (inner): `kMalformedRequest` for a result above the limit.
SqliteResult<base::Result<base::Reply>> run_statement(Connection& connection,
                                                      const NamedStatement& statement,
                                                      const Parameters& parameters,
                                                      const RunLimits& limits);

}  // namespace fenceline::backends::sqlite
