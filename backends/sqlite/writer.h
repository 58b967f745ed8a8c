#pragma once

#include <functional>
#include <memory>

#include "backends/sqlite/database_file.h"
#include "backends/sqlite/health.h"
#include "backends/sqlite/write_queue.h"
#include "base/sqlite_connection.h"

namespace fenceline::backends::sqlite {

/// One commit of the writing connection.
struct GroupCommit {
  std::size_t jobs = 0;
  double seconds = 0;
};

/// Serves the queue on the writer's thread: all that waits goes into one transaction, and is
/// answered after its commit; checkpoints between groups. It decides what a failure means:
///
/// - of one statement: that job's answer, the others go on (their savepoints);
/// - of the moment (full disk, memory): the group is rolled back and its jobs run one by one, so
///   that the one that is too much fails alone;
/// - for good: everything is refused until restart.
class Writer {
 public:
  /// `on_commit` may be empty; called on the writer's thread.
  Writer(DatabaseFile file, Health& health, std::function<void(const GroupCommit&)> on_commit);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Serves until the queue is closed and empty. Call once, from one thread.
  void serve(WriteQueue& queue);

 private:
  void serve_group(Jobs& jobs);
  void serve_alone(std::unique_ptr<WriteJob>& job);
  void answer(std::unique_ptr<WriteJob>& job, const SqliteResult<void>& outcome);

  /// The group in one transaction; on failure it has been rolled back.
  SqliteResult<void> commit_all(std::unique_ptr<WriteJob>* first, std::size_t count);
  SqliteResult<void> commit_in_transaction(std::unique_ptr<WriteJob>* first, std::size_t count);
  SqliteResult<void> check_in_place();
  SqliteResult<void> step(const char* sql);
  void copy_log();

  static int on_wal_commit(void* self, sqlite3*, const char*, int pages);

  DatabaseFile file_;
  const DatabaseName name_;
  Health& health_;
  const std::function<void(const GroupCommit&)> on_commit_;
  bool committing_ = false;  ///< The failure was that of the COMMIT itself.
  bool began_ = false;       ///< The transaction could begin.
  int wal_pages_ = 0;        ///< Length of the log after our last commit.
  int checkpoint_at_pages_;
  bool checkpoint_wanted_ = false;
};

}  // namespace fenceline::backends::sqlite
