#include "backends/sqlite/write_job.h"

#include <utility>

#include "base/kept_reply.h"

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
  if (once_) {
    const auto answered = recall(writer.answers());
    if (!answered) {
      return tl::unexpected(answered.error());
    }
    if (*answered) {
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
  if (once_ && *done) {
    if (auto kept = keep(writer.answers(), *done); !kept) {
      return kept;
    }
  }
  if (!*done) {
    if (auto undone = step(writer, kUndo); !undone) {
      return undone;
    }
  }
  answer_ = *std::move(done);
  return step(writer, kEnd);
}

SqliteResult<bool> FencedJob::recall(base::AnswerTable& answers) {
  const auto room = answers.has_room();
  if (!room) {
    return tl::unexpected(room.error());
  }
  const auto row = answers.find(once_->key);
  if (!row) {
    return tl::unexpected(row.error());
  }
  if (*row) {
    const bool same = (*row)->print == once_->print;
    answer_ = same ? base::Result<base::Reply>(base::replayed((*row)->answer))
                   : tl::unexpected(base::reused_key());
  } else if (!*room) {
    answer_ = tl::unexpected(base::no_room_for_answers());
  }
  return *row || !*room;
}

SqliteResult<void> FencedJob::keep(base::AnswerTable& answers, base::Result<base::Reply>& outcome) {
  const auto kept = base::kept_from(*outcome);
  if (kept) {
    return answers.keep(*once_, *kept);
  }
  outcome = base::fail(base::ErrorKind::kBodyTooLarge,
                       "The answer is too large to be kept for the idempotency key (256 KiB), so "
                       "nothing was done. Let the statement return less, or send no key.");
  return {};
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
