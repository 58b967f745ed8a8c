#include "tests/contract/backend_contract.h"

#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "backends/files/files_backend.h"
#include "backends/sqlite/sqlite_backend.h"
#include "base/sqlite_connection.h"
#include "base/worker_pool.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {
namespace {

class FilesFixture final : public BackendFixture {
 public:
  explicit FilesFixture(backends::SyncMode sync) {
    auto opened =
        backends::open_files_backend({.root = folder_.at("root"), .pool = pool_, .sync = sync});
    if (!opened) {
      throw std::runtime_error(opened.error().detail);
    }
    backend_ = *std::move(opened);
  }

  backends::Backend& backend() override { return *backend_; }

  bool is_free_of_leftovers() override {
    return std::filesystem::is_empty(folder_.path() / "root/.fenceline/tmp");
  }

 private:
  TempFolder folder_;
  base::WorkerPool pool_{3};
  std::unique_ptr<backends::Backend> backend_;
};

/// Documents in a database; with `mapped`, in a table that somebody else made.
class SqliteFixture final : public BackendFixture {
 public:
  explicit SqliteFixture(const std::string& schema) {
    backends::SqliteOptions options{.database = folder_.at("data.db"), .pool = pool_};
    if (!schema.empty()) {
      run_sql(options.database, schema);
      options.table = "things";
      options.columns = {.key = "id",
                         .value = "content",
                         .content_type = "mime",
                         .etag = "version",
                         .modified = "changed_s",
                         .token = "fence",
                         .request_id = "request"};
    }
    auto opened = backends::open_sqlite_backend(std::move(options));
    if (!opened) {
      throw std::runtime_error(opened.error().detail);
    }
    backend_ = *std::move(opened);
  }

  backends::Backend& backend() override { return *backend_; }

  /// A staged write is in memory: the database is all that there is.
  bool is_free_of_leftovers() override {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.insert(entry.path().filename());
    }
    return names == std::set<std::string>{"data.db", "data.db-shm", "data.db-wal", "data.db.lock"};
  }

 private:
  static void run_sql(const std::string& path, const std::string& sql) {
    auto done =
        base::SqliteConnection::open(path, SQLITE_OPEN_CREATE)
            .and_then([&](base::SqliteConnection connection) { return connection.run(sql); });
    if (!done) {
      throw std::runtime_error(done.error().text);
    }
  }

  TempFolder folder_;
  base::WorkerPool pool_{3};
  std::unique_ptr<backends::Backend> backend_;
};

std::unique_ptr<BackendFixture> sqlite() { return std::make_unique<SqliteFixture>(""); }

std::unique_ptr<BackendFixture> sqlite_mapped() {
  return std::make_unique<SqliteFixture>(
      "CREATE TABLE things(number INTEGER PRIMARY KEY, content BLOB, id VARCHAR(99) UNIQUE, "
      "mime TEXT, version TEXT, changed_s INTEGER, fence INTEGER, request TEXT, note TEXT "
      "DEFAULT 'ours')");
}

std::unique_ptr<BackendFixture> durable_files() {
  return std::make_unique<FilesFixture>(backends::SyncMode::kFull);
}

std::unique_ptr<BackendFixture> fast_files() {
  return std::make_unique<FilesFixture>(backends::SyncMode::kNone);
}

INSTANTIATE_TEST_SUITE_P(Files, BackendContract,
                         ::testing::Values(BackendCase{"sync_full", durable_files},
                                           BackendCase{"sync_none", fast_files}),
                         [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(Files, VersionContract,
                         ::testing::Values(BackendCase{"sync_full", durable_files},
                                           BackendCase{"sync_none", fast_files}),
                         [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(Sqlite, BackendContract,
                         ::testing::Values(BackendCase{"own_table", sqlite},
                                           BackendCase{"mapped_table", sqlite_mapped}),
                         [](const auto& tested) { return tested.param.name; });

INSTANTIATE_TEST_SUITE_P(Sqlite, VersionContract,
                         ::testing::Values(BackendCase{"own_table", sqlite},
                                           BackendCase{"mapped_table", sqlite_mapped}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace fenceline::testing
