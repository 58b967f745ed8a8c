#include "backends/sqlite/writer.h"

#include <chrono>
#include <optional>
#include <utility>

namespace fenceline::backends::sqlite {
namespace {

// 16 MiB of log between checkpoints: about 4,000 small commits share the fsyncs of one.
constexpr int kCheckpointPages = 4096;

// A quiet database is copied together, so that a restart has little to read.
constexpr std::chrono::milliseconds kIdleBeforeCheckpoint{1000};

}  // namespace

Writer::Writer(DatabaseFile file, Health& health, std::function<void(const GroupCommit&)> on_commit)
    : file_(std::move(file)),
      name_{file_.path},
      health_(health),
      on_commit_(std::move(on_commit)),
      checkpoint_at_pages_(kCheckpointPages) {
  sqlite3_wal_hook(file_.writer->get(), &Writer::on_wal_commit, this);
}

Writer::~Writer() {
  // The guard first, so that the writer is the last and tidies up. A file that cannot be trusted is
  // left exactly as it is for the restart to read.
  file_.guard.reset();
  if (!health_.reason()) {
    sqlite3_db_config(file_.writer->get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  }
}

int Writer::on_wal_commit(void* self, sqlite3* /*database*/, const char* /*schema*/, int pages) {
  auto* const writer = static_cast<Writer*>(self);
  if (pages < writer->wal_pages_) {
    // It has begun again from its start.
    writer->checkpoint_at_pages_ = kCheckpointPages;
  }
  writer->wal_pages_ = pages;
  writer->checkpoint_wanted_ = true;
  return SQLITE_OK;
}

void Writer::serve(WriteQueue& queue) {
  Jobs jobs;
  while (true) {
    const auto idle_after =
        checkpoint_wanted_ ? std::optional(kIdleBeforeCheckpoint) : std::nullopt;
    switch (queue.take(jobs, idle_after)) {
      case WriteQueue::Wake::kIdle:
        copy_log();
        break;
      case WriteQueue::Wake::kWork:
        serve_group(jobs);
        jobs.clear();
        if (wal_pages_ >= checkpoint_at_pages_) {
          copy_log();
        }
        break;
      case WriteQueue::Wake::kClosed:
        return;
    }
  }
}

void Writer::serve_group(Jobs& jobs) {
  if (jobs.size() == 1) {
    serve_alone(jobs.front());
    return;
  }
  const auto outcome = commit_all(jobs.data(), jobs.size());
  // Those that could not even begin would wait for the same lock one after the other.
  if (!outcome && began_ && !health_.reason()) {
    for (auto& job : jobs) {
      serve_alone(job);
    }
    return;
  }
  for (auto& job : jobs) {
    answer(job, outcome);
  }
}

void Writer::serve_alone(std::unique_ptr<WriteJob>& job) { answer(job, commit_all(&job, 1)); }

void Writer::answer(std::unique_ptr<WriteJob>& job, const SqliteResult<void>& outcome) {
  if (outcome) {
    job->committed();
  } else if (const auto serving = health_.check(name_); !serving) {
    job->failed(serving.error(), committing_);
  } else {
    job->failed(error_of(outcome.error(), name_, "write to"), false);
  }
  job.reset();
}

SqliteResult<void> Writer::commit_all(std::unique_ptr<WriteJob>* first, std::size_t count) {
  committing_ = false;
  began_ = false;
  if (health_.reason()) {
    return tl::unexpected(SqliteFailure{SQLITE_IOERR, 0, "out of service"});
  }
  const auto start = std::chrono::steady_clock::now();
  auto done = check_in_place().and_then([&] { return commit_in_transaction(first, count); });
  if (done) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (on_commit_) {
      on_commit_({count, took.count()});
    }
    return done;
  }
  Reach reach = reach_of(done.error());
  if (file_.writer->in_transaction()) {
    if (const auto undone = step("ROLLBACK"); !undone || file_.writer->in_transaction()) {
      reach = Reach::kForGood;  // with the transaction still open nothing is known
    }
  }
  // A commit that failed for a reason that we do not know may have reached the log.
  if (reach == Reach::kForGood || (committing_ && reach == Reach::kStatement)) {
    health_.fail(done.error(), file_.path);
  }
  return done;
}

SqliteResult<void> Writer::commit_in_transaction(std::unique_ptr<WriteJob>* first,
                                                 std::size_t count) {
  if (auto begun = step("BEGIN IMMEDIATE"); !begun) {
    return begun;
  }
  began_ = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (auto applied = first[i]->apply(*file_.writer); !applied) {
      return applied;
    }
  }
  committing_ = true;
  return step("COMMIT");
}

SqliteResult<void> Writer::check_in_place() {
  int moved = 0;
  const int code =
      sqlite3_file_control(file_.writer->get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (code == SQLITE_OK && moved == 0) {
    return {};
  }
  return tl::unexpected(
      SqliteFailure{SQLITE_READONLY_DBMOVED, 0, "the file has been moved, replaced or deleted"});
}

SqliteResult<void> Writer::step(const char* sql) {
  auto run = file_.writer->prepared(sql);
  if (!run) {
    return tl::unexpected(std::move(run.error()));
  }
  const auto done = (*run)->step();
  if (!done) {
    return tl::unexpected(done.error());
  }
  return {};
}

void Writer::copy_log() {
  checkpoint_wanted_ = false;
  if (health_.reason()) {
    return;
  }
  const auto copied = checkpoint(*file_.writer, *file_.guard);
  // The next commit starts the log again, unless a reader is in it or nothing could be copied: then
  // once more when there is much more of it. What was committed is durable where it is.
  checkpoint_at_pages_ = wal_pages_ + kCheckpointPages;
  if (!copied && reach_of(copied.error()) == Reach::kForGood) {
    health_.fail(copied.error(), file_.path);
  }
}

}  // namespace fenceline::backends::sqlite
