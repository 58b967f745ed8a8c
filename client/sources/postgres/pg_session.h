#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "client/sources/postgres/pg_target.h"
#include "client/stop_event.h"

namespace fenceline::client {

using PgRow = std::vector<std::optional<std::string>>;

/// What a server said to a statement.
struct PgAnswer {
  std::string sqlstate;  ///< Empty: it was done.
  std::string message;   ///< The server's first line, if it was not.
  std::vector<PgRow> rows;
};

/// A connection to the first server of a target that takes it; libpq without blocking.
class PgSession {
 public:
  PgSession() = default;
  PgSession(const PgSession&) = delete;
  PgSession& operator=(const PgSession&) = delete;
  virtual ~PgSession() = default;

  /// Runs one statement in a transaction of its own. Connects first if there is no connection, and
  /// begins at the server that worked last.
  ///
  /// Does: after `stop` the answer of a statement that is under way gets 200 ms more, so that the
  /// caller learns what became of it. `limit` is for all of it, connecting included.
  /// Success: the server's answer, also one that says no. Failure: the connection is closed;
  /// `kUpstreamFailed`, `kUpstreamTimeout`, `kUnauthorized`, `kClientGone`; `applied` is `kNo` if
  /// the statement cannot have been sent.
  /// Concurrency: one call at a time. Looking up a host name blocks beyond limit and stop.
  virtual base::Result<PgAnswer> run(const std::string& sql, const std::vector<std::string>& values,
                                     base::Milliseconds limit, const StopEvent& stop) = 0;

  /// True if the last `run` used a connection that was open before: a failure may only mean that it
  /// had gone stale.
  [[nodiscard]] virtual bool reused() const = 0;
};

/// Connects nowhere yet.
std::unique_ptr<PgSession> make_pg_session(PgTarget target);

}  // namespace fenceline::client
