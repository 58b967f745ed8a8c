#include "backends/sqlite/database.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <utility>

namespace fenceline::backends::sqlite {
namespace {

// Whoever lets a database go may have a group to finish.
constexpr std::chrono::seconds kMaxClosing{30};

/// The databases that this process has open, or is closing, by canonical path.
struct OpenDatabases {
  std::mutex mutex;
  std::condition_variable closed;
  std::map<std::string, std::weak_ptr<Database>> known;

  static OpenDatabases& instance() {
    static OpenDatabases databases;
    return databases;
  }

  void forget(Database* database) {
    const std::string path = database->name().path;
    delete database;
    {
      const std::scoped_lock lock(mutex);
      known.erase(path);
    }
    closed.notify_all();
  }
};

class OpeningJob final : public WriteJob {
 public:
  OpeningJob(std::function<void(Connection&)> work, std::promise<base::Result<void>> answer)
      : work_(std::move(work)), answer_(std::move(answer)) {}

  SqliteResult<void> apply(Connection& writer) override {
    work_(writer);
    return {};
  }
  void committed() override { answer_.set_value({}); }
  void failed(base::Error error, bool /*may_last*/) override {
    answer_.set_value(tl::unexpected(std::move(error)));
  }

 private:
  const std::function<void(Connection&)> work_;
  std::promise<base::Result<void>> answer_;
};

}  // namespace

base::Result<std::shared_ptr<Database>> Database::open(DatabaseOptions options) {
  auto path = canonical_path(options.path);
  if (!path) {
    return tl::unexpected(std::move(path.error()));
  }
  OpenDatabases& open = OpenDatabases::instance();
  std::unique_lock lock(open.mutex);
  std::shared_ptr<Database> shared;
  open.closed.wait_for(lock, kMaxClosing, [&] {
    const auto found = open.known.find(*path);
    if (found != open.known.end()) {
      shared = found->second.lock();
    }
    return shared || found == open.known.end();
  });
  if (shared) {
    if (shared->marks_table() != options.marks) {
      return base::fail(
          base::ErrorKind::kStorageFailed,
          fmt::format(
              "The database {} is open with the marks table \"{}\", so another route cannot "
              "use \"{}\": all routes on one database share one table of marks.",
              *path, shared->marks_table(), options.marks));
    }
    return shared;
  }
  auto file = open_database_file(*path, options.marks, options.busy);
  if (!file) {
    return tl::unexpected(std::move(file.error()));
  }
  std::shared_ptr<Database> database(new Database(*std::move(file), options),
                                     [&open](Database* last) { open.forget(last); });
  open.known[*path] = database;
  return database;
}

Database::Database(DatabaseFile file, const DatabaseOptions& options)
    : name_{file.path},
      marks_table_(options.marks),
      marks_(options.marks),
      busy_(options.busy),
      health_(options.on_failure) {
  struct stat status {};
  if (::stat(name_.path.c_str(), &status) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
  auto writer = std::make_unique<Writer>(std::move(file), health_, options.on_commit);
  thread_ = std::thread([this, owned = std::move(writer)]() mutable {
    owned->serve(queue_);
    owned.reset();
  });
}

Database::~Database() {
  // The writer closes last, which lets SQLite tidy up the log.
  idle_.clear();
  queue_.close();
  thread_.join();
}

void Database::submit(std::unique_ptr<WriteJob> job) {
  if (!queue_.push(job)) {
    job->failed({base::ErrorKind::kOverloaded,
                 fmt::format("Too many writes wait for the database {}. Send the request again "
                             "later.",
                             name_.file())},
                false);
  }
}

base::Result<void> Database::run_on_writer(std::function<void(Connection& writer)> work) {
  std::promise<base::Result<void>> promise;
  auto answer = promise.get_future();
  submit(std::make_unique<OpeningJob>(std::move(work), std::move(promise)));
  return answer.get();
}

Database::Reader::~Reader() {
  if (!connection_) {
    return;
  }
  const std::scoped_lock lock(home_->mutex_);
  if (home_->idle_.size() < kMaxIdleReaders) {
    home_->idle_.push_back(std::move(connection_));
  }
}

SqliteResult<Database::Reader> Database::reader() {
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      return Reader(*this, std::move(connection));
    }
  }
  auto connection = Connection::open(name_.path, marks_table_, busy_);
  if (!connection) {
    return tl::unexpected(std::move(connection.error()));
  }
  if (auto only = (*connection)->run("PRAGMA query_only=ON"); !only) {
    return tl::unexpected(std::move(only.error()));
  }
  if (displaced()) {
    return tl::unexpected(
        SqliteFailure{SQLITE_READONLY_DBMOVED, 0, "the file has been moved, replaced or deleted"});
  }
  return Reader(*this, *std::move(connection));
}

std::optional<std::string> Database::displaced() const {
  struct stat status {};
  if (::stat(name_.path.c_str(), &status) == 0 && status.st_dev == device_ &&
      status.st_ino == inode_) {
    return std::nullopt;
  }
  return fmt::format(
      "{} is not the database that is open any more: it was moved, replaced or "
      "deleted; put it back, then restart",
      name_.path);
}

}  // namespace fenceline::backends::sqlite
