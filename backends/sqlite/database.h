#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backends/sqlite/health.h"
#include "backends/sqlite/write_queue.h"
#include "backends/sqlite/writer.h"

namespace fenceline::backends::sqlite {

/// How a database is opened.
struct DatabaseOptions {
  std::string path;
  std::string marks;
  base::Milliseconds busy;
  std::function<void(const std::string&)> on_failure;
  std::function<void(const GroupCommit&)> on_commit;
};

/// One database, however many routes use it: one thread that writes, and connections that read.
/// Thread-safe. Must not be let go by the writer's thread: jobs do not hold it.
class Database {
 public:
  /// Opens it, or gives the one that this process has open: routes on one file share it, and a new
  /// configuration takes it over. `on_failure` and `on_commit` of the first one stay.
  /// Failure: as `open_database_file`; `kStorageFailed` if it is open with another table of marks.
  /// Blocks, also while a former user of the same file closes it.
  static base::Result<std::shared_ptr<Database>> open(DatabaseOptions options);

  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  [[nodiscard]] const DatabaseName& name() const { return name_; }
  [[nodiscard]] const Marks& marks() const { return marks_; }
  [[nodiscard]] const std::string& marks_table() const { return marks_table_; }
  [[nodiscard]] const Health& health() const { return health_; }

  /// Outlives its connections.
  [[nodiscard]] const base::Clock& clock() const { return clock_; }

  /// Hands a write over; it is answered exactly once, on the writer's thread (`kOverloaded`: at
  /// once, if too many wait).
  void submit(std::unique_ptr<WriteJob> job);

  /// Runs `work` on the writer's thread, in a transaction, and waits for its commit. For the start
  /// of the process. `work` may be run twice.
  /// Failure: of the transaction; what `work` finds it keeps itself.
  base::Result<void> run_on_writer(std::function<void(Connection& writer)> work);

  /// A connection for reading, for one thread; given back when it goes.
  class Reader {
   public:
    Reader(Database& home, std::unique_ptr<Connection> connection)
        : home_(&home), connection_(std::move(connection)) {}
    Reader(Reader&&) = default;
    Reader& operator=(Reader&&) = delete;
    ~Reader();
    Connection& operator*() { return *connection_; }

   private:
    Database* home_;
    std::unique_ptr<Connection> connection_;
  };

  /// Takes an idle one, or opens another. The database must outlive it.
  SqliteResult<Reader> reader();

  /// Nothing while the path still leads to the file that is open.
  [[nodiscard]] std::optional<std::string> displaced() const;

 private:
  Database(DatabaseFile file, const DatabaseOptions& options);

  static constexpr std::size_t kMaxIdleReaders = 16;

  const base::SteadyClock clock_;
  const DatabaseName name_;
  const std::string marks_table_;
  const Marks marks_;
  const base::Milliseconds busy_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  Health health_;
  WriteQueue queue_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace fenceline::backends::sqlite
