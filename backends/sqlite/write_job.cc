#include "backends/sqlite/write_job.h"

#include <utility>

namespace fenceline::backends::sqlite {
namespace {

constexpr const char* kBegin = "SAVEPOINT effect";
constexpr const char* kUndo = "ROLLBACK TO effect";
constexpr const char* kEnd = "RELEASE effect";

SqliteResult<void> step(Connection& writer, const char* sql) {
  auto run = writer.prepared(sql);
  if (!run) {
    return tl::unexpected(std::move(run.error()));
  }
  const auto done = (*run)->step();
  if (!done) {
    return tl::unexpected(done.error());
  }
  return {};
}

/// A deferred foreign key would fail the commit of the whole group.
bool owes_foreign_keys(Connection& writer) {
  int owed = 0;
  int highest = 0;
  sqlite3_db_status(writer.get(), SQLITE_DBSTATUS_DEFERRED_FKS, &owed, &highest, 0);
  return owed != 0;
}

}  // namespace

SqliteResult<base::Result<base::Reply>> FencedJob::guarded_effect(Connection& writer) {
  auto done = effect(writer);
  if (done && *done && owes_foreign_keys(writer)) {
    done = tl::unexpected(
        SqliteFailure{SQLITE_CONSTRAINT_FOREIGNKEY, 0, "FOREIGN KEY constraint failed"});
  }
  if (done) {
    return done;
  }
  // SQLite has ended the transaction after some failures, and everything of the group with it.
  if (reach_of(done.error()) != Reach::kStatement || !writer.in_transaction()) {
    return done;
  }
  return base::Result<base::Reply>(tl::unexpected(error_of(done.error(), database_, doing())));
}

SqliteResult<void> FencedJob::apply(Connection& writer) {
  if (stamp_.token.exists() && !stamp_.key.empty()) {
    const auto mark = marks_.raise(writer, stamp_.key, stamp_.token);
    if (!mark) {
      return tl::unexpected(mark.error());
    }
    if (*mark > stamp_.token) {
      answer_ = tl::unexpected(stale(stamp_.token, *mark));
      return {};
    }
  }
  if (auto begun = step(writer, kBegin); !begun) {
    return begun;
  }
  auto done = guarded_effect(writer);
  if (!done) {
    return tl::unexpected(std::move(done.error()));
  }
  if (!*done) {
    if (auto undone = step(writer, kUndo); !undone) {
      return undone;
    }
  }
  answer_ = *std::move(done);
  return step(writer, kEnd);
}

void FencedJob::committed() { done_(std::move(answer_)); }

void FencedJob::failed(base::Error error, bool may_last) {
  const bool had_effect = answer_.has_value();
  error.applied = may_last && had_effect ? base::Applied::kUnknown : base::Applied::kNo;
  done_(tl::unexpected(std::move(error)));
}

void ResetJob::failed(base::Error error, bool may_last) {
  error.applied = may_last ? base::Applied::kUnknown : base::Applied::kNo;
  done_(tl::unexpected(std::move(error)));
}

}  // namespace fenceline::backends::sqlite
