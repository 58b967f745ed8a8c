#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/sqlite/sqlite_backend.h"
#include "base/sqlite_connection.h"
#include "base/worker_pool.h"
#include "tests/support/backend_driver.h"
#include "tests/support/idle_pool.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {

/// A connection of somebody else's, as the sqlite3 shell would have it.
class ForeignConnection {
 public:
  explicit ForeignConnection(const std::string& path);

  /// Runs SQL; a failure fails the test.
  void run(const std::string& sql);

  /// The first column of the first row, as text.
  std::string value(const std::string& sql);

  [[nodiscard]] base::SqliteConnection& raw() { return connection_; }

 private:
  base::SqliteConnection connection_;
};

/// What the wildcards of a route's pattern took.
using Captures = std::vector<std::pair<std::string, std::string>>;

/// A database on disk with a backend in front.
class SqliteBackendTest : public ::testing::Test {
 protected:
  backends::SqliteOptions options();

  base::Result<std::unique_ptr<backends::Backend>> try_open(backends::SqliteOptions options);
  base::Result<std::unique_ptr<backends::Backend>> try_open() { return try_open(options()); }

  /// Closes what is open, and opens with `options`.
  void open(backends::SqliteOptions options);
  void open() { open(options()); }

  /// Opens with these statements: name, SQL; those whose name begins with `get` only read.
  void open_statements(const std::vector<std::pair<std::string, std::string>>& statements);

  /// Like the end of the process: nobody holds the database any more.
  void close() {
    backend_.reset();
    wait_until_idle(pool_, kThreads);
  }

  backends::Backend& backend() { return *backend_; }

  [[nodiscard]] std::string database() const { return folder_.at("data.db"); }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
  ForeignConnection foreign() const { return ForeignConnection(database()); }

  /// Runs SQL on a database of its own making, before it is opened.
  void given(const std::string& sql) const;

  /// The sentences of `on_failure`.
  std::vector<std::string> alarms() const;

  /// The sizes of the groups that were committed.
  std::vector<std::size_t> groups() const;

 private:
  TempFolder folder_;
  static constexpr std::size_t kThreads = 3;
  base::WorkerPool pool_{kThreads};
  mutable std::mutex mutex_;
  std::vector<std::string> alarms_;
  std::vector<std::size_t> groups_;
  std::unique_ptr<backends::Backend> backend_;
};

/// POSTs `json` to `name` as the pipeline does: as a read, if the backend says so.
Answer post(backends::Backend& backend, const std::string& name, const std::string& json,
            const Captures& captures = {}, base::Stamp stamp = {}, Fields fields = {});

/// The same for a statement that writes and takes effect once.
Answer post_once(backends::Backend& backend, const std::string& name, const std::string& json,
                 base::Once once, base::Stamp stamp);

/// The same call as a staged write.
Staged stage_post(backends::Backend& backend, const std::string& name, const std::string& json);

/// A GET with a token.
Answer fenced_get(backends::Backend& backend, const std::string& name, base::Stamp stamp);

/// The stamp of a write of `key` under `token`.
base::Stamp stamp_of(const std::string& key, std::int64_t token);

/// Runs several commits at once, from one thread: all are handed over, then `meanwhile` is called,
/// then their answers are awaited.
std::vector<Answer> commit_together(std::vector<Staged>& writes,
                                    const std::function<void()>& meanwhile);

}  // namespace fenceline::testing
