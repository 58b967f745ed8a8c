#pragma once

// One read on a connection of its own: first the mark, if the read is fenced, then the rest, all of
// one moment.

#include <memory>
#include <optional>
#include <string_view>

#include "backends/sqlite/store.h"
#include "backends/sqlite/write_job.h"
#include "base/async.h"
#include "base/error.h"
#include "base/http.h"
#include "base/stamp.h"

namespace fenceline::backends::sqlite {

/// What is read, which owns all that it needs.
class ReadJob {
 public:
  ReadJob() = default;
  ReadJob(const ReadJob&) = delete;
  ReadJob& operator=(const ReadJob&) = delete;
  virtual ~ReadJob() = default;

  /// In a read transaction. Failure (outer): of SQLite; (inner): a refusal, such as `kNotFound`.
  virtual SqliteResult<base::Result<base::Reply>> read(Connection& connection) = 0;

  /// "read "a" in".
  [[nodiscard]] virtual std::string doing() const = 0;
};

/// Runs `job` on the pool. With a key and a token in `stamp` the read is fenced: the mark is at
/// least the token, durably, before the answer. In the steady state that is a lookup in the read's
/// own transaction, otherwise a write first.
/// Failure: that of `job` if it is one; its own; `kStaleToken` with the mark.
base::Awaitable<base::Result<base::Reply>> run_read(std::shared_ptr<Store> store,
                                                    base::Result<std::shared_ptr<ReadJob>> job,
                                                    base::Stamp stamp);

}  // namespace fenceline::backends::sqlite
