#include "backends/sqlite/reading.h"

#include <utility>

namespace fenceline::backends::sqlite {
namespace {

using base::Reply;
using base::Result;

/// What one try came to: the answer, or that the mark must be raised first.
struct Attempt {
  Result<Reply> answer;
  bool mark_is_below = false;
};

/// A read transaction, ended with the scope.
class Snapshot {
 public:
  explicit Snapshot(Connection& connection) : connection_(connection) {}
  ~Snapshot() {
    if (connection_.in_transaction()) {
      (void)step("ROLLBACK");
    }
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  SqliteResult<void> begin() { return step("BEGIN"); }

 private:
  SqliteResult<void> step(const char* sql) {
    auto run = connection_.prepared(sql);
    if (!run) {
      return tl::unexpected(std::move(run.error()));
    }
    const auto done = (*run)->step();
    if (!done) {
      return tl::unexpected(done.error());
    }
    return {};
  }

  Connection& connection_;
};

SqliteResult<Attempt> attempt(Store& store, ReadJob& job, const base::Stamp& stamp) {
  auto reader = store.database->reader();
  if (!reader) {
    return tl::unexpected(std::move(reader.error()));
  }
  Snapshot snapshot(**reader);
  if (auto begun = snapshot.begin(); !begun) {
    return tl::unexpected(std::move(begun.error()));
  }
  if (stamp.token.exists() && !stamp.key.empty()) {
    const auto mark = store.database->marks().find(**reader, stamp.key);
    if (!mark) {
      return tl::unexpected(mark.error());
    }
    if (*mark > stamp.token) {
      return Attempt{tl::unexpected(stale(stamp.token, *mark))};
    }
    if (*mark < stamp.token) {
      return Attempt{Reply(), true};
    }
  }
  auto answer = job.read(**reader);
  if (!answer) {
    return tl::unexpected(std::move(answer.error()));
  }
  return Attempt{*std::move(answer)};
}

base::Awaitable<Attempt> attempt_on_pool(std::shared_ptr<Store> store, std::shared_ptr<ReadJob> job,
                                         base::Stamp stamp) {
  base::WorkerPool& pool = store->pool;
  auto work = [store = std::move(store), job = std::move(job), stamp = std::move(stamp)] {
    auto done = attempt(*store, *job, stamp);
    if (!done) {
      return Attempt{tl::unexpected(error_of(done.error(), store->database->name(), job->doing()))};
    }
    return *std::move(done);
  };
  return base::run_on<Attempt>(pool, std::move(work));
}

base::Awaitable<Result<Reply>> raise(std::shared_ptr<Store> store, base::Stamp stamp) {
  auto start = [store = std::move(store),
                stamp = std::move(stamp)](base::Done<Result<Reply>> done) mutable {
    Database& database = *store->database;
    auto job = std::make_unique<RaiseJob>(database.marks(), database.name(), std::move(stamp));
    job->answer_to(std::move(done));
    database.submit(std::move(job));
  };
  return base::from_callback<Result<Reply>>(std::move(start));
}

}  // namespace

base::Awaitable<Result<Reply>> run_read(std::shared_ptr<Store> store,
                                        Result<std::shared_ptr<ReadJob>> job, base::Stamp stamp) {
  if (!job) {
    co_return tl::unexpected(job.error());
  }
  auto done = co_await attempt_on_pool(store, *job, stamp);
  if (!done.mark_is_below) {
    co_return std::move(done.answer);
  }
  auto raised = co_await raise(store, stamp);
  if (!raised) {
    co_return raised;
  }
  done = co_await attempt_on_pool(store, *job, stamp);
  if (done.mark_is_below) {
    // Somebody lowers marks while we raise them: the fence is unsure.
    co_return base::fail(base::ErrorKind::kStorageFailed,
                         "The mark in the database went down. Tell its operator.");
  }
  co_return std::move(done.answer);
}

}  // namespace fenceline::backends::sqlite
