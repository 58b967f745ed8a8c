#include "fencing/ledger_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/unique_fd.h"
#include "fencing/ledger_format.h"

namespace fenceline::fencing {
namespace {

namespace fs = std::filesystem;

// Said whenever we offer to go on without a ledger.
constexpr std::string_view kOrForget =
    "or, to forget every mark so that writers that were shut out pass again, remove";

tl::unexpected<base::Error> refuse(std::string detail) {
  return base::fail(base::ErrorKind::kLedgerUnavailable, std::move(detail));
}

base::Result<void> sync_folder(const fs::path& folder) {
  const base::UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0) {
    const int reason = errno;
    return refuse(fmt::format("The ledger's folder {} cannot be made durable: {}.", folder.string(),
                              std::generic_category().message(reason)));
  }
  return {};
}

/// Makes `folder` and what is missing above it; each new name is durable.
base::Result<void> make_folders(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) {
    return {};
  }
  if (auto above = make_folders(folder.parent_path()); !above) {
    return above;
  }
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    const int reason = errno;
    return refuse(fmt::format("The ledger's folder {} cannot be made: {}.", folder.string(),
                              std::generic_category().message(reason)));
  }
  return sync_folder(folder.parent_path());
}

/// A new ledger appears under its name only when it is complete and durable.
base::Result<void> make_ledger(const std::string& path) {
  const std::string unfinished = path + ".new";
  for (const char* suffix : {"", "-journal", "-wal"}) {
    ::unlink((unfinished + suffix).c_str());
  }
  if (const auto written = write_empty_ledger(unfinished); !written) {
    return tl::unexpected(cannot_open(path, written.error()));
  }
  if (::rename(unfinished.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    return refuse(fmt::format("The ledger {} cannot be created: {}.", path,
                              std::generic_category().message(reason)));
  }
  return sync_folder(fs::path(path).parent_path());
}

/// Whether the first bytes are those of a SQLite database, as far as there are any. Opening a
/// shorter file than any ledger drops no lock of SQLite's: no ledger has it open.
bool may_be_cut_database(const std::string& path) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  std::array<char, kMagic.size()> first{};
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const ssize_t size = fd.valid() ? ::pread(fd.get(), first.data(), first.size(), 0) : 0;
  return size <= 0 || kMagic.starts_with({first.data(), static_cast<std::size_t>(size)});
}

tl::unexpected<base::Error> refuse_short_file(const std::string& path, std::uintmax_t bytes) {
  if (!may_be_cut_database(path)) {
    return refuse(fmt::format(
        "{} has {} bytes and is not a SQLite database, so it is no ledger. Point ledger.sqlite at "
        "a file of its own.",
        path, bytes));
  }
  return refuse(
      fmt::format("The ledger {} has {} bytes; an intact one has at least {}, so its marks are "
                  "lost. Restore it from a backup, {} it.",
                  path, bytes, kLedgerPageBytes, kOrForget));
}

/// Looks at the file by its name only: opening and closing a ledger would drop SQLite's locks.
/// Success: true if there is a file to open.
base::Result<bool> inspect(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
    return refuse(fmt::format(
        "The ledger {} is a symbolic link to nothing. Put the ledger back, {} the link.", path,
        kOrForget));
  }
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) {
      const int reason = errno;
      return refuse(fmt::format("The ledger {} cannot be looked at: {}.", path,
                                std::generic_category().message(reason)));
    }
    // SQLite would delete the log, and with it marks.
    if (::stat((path + "-wal").c_str(), &status) == 0) {
      return refuse(
          fmt::format("The ledger {} is missing, but its log {}-wal is there. Put the "
                      "ledger back, {} the log.",
                      path, path, kOrForget));
    }
    return false;
  }
  if (!S_ISREG(status.st_mode)) {
    return refuse(fmt::format(
        "{} is not a regular file, so it is no ledger. Point ledger.sqlite at a file of its own.",
        path));
  }
  // SQLite takes a file without a whole page for a new database.
  if (status.st_size < kLedgerPageBytes) {
    return refuse_short_file(path, static_cast<std::uintmax_t>(status.st_size));
  }
  if (status.st_nlink > 1) {
    return refuse(
        fmt::format("The ledger {} has {} names (hard links). SQLite keeps its log under "
                    "one name, so opened by another it would lose marks. Remove the "
                    "other names.",
                    path, static_cast<std::uintmax_t>(status.st_nlink)));
  }
  return true;
}

/// Copies the log into the file and makes it durably empty. Without the last sync a power loss can
/// bring back the part of the log that an earlier, failed fsync had saved; replayed over the file,
/// which is newer by then, it would take marks back.
SqliteResult<void> empty_log(SqliteConnection& connection) {
  if (auto copied = connection.checkpoint(SQLITE_CHECKPOINT_TRUNCATE); !copied) {
    return copied;
  }
  sqlite3_file* log = nullptr;
  sqlite3_file_control(connection.get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (log == nullptr || log->pMethods == nullptr) {
    return tl::unexpected(SqliteFailure{SQLITE_CANTOPEN, 0, "the log is not open"});
  }
  errno = 0;
  if (const int code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL); code != SQLITE_OK) {
    return tl::unexpected(failure_of(nullptr, code));
  }
  return {};
}

/// Brings the connection into the one mode the ledger relies on, and checks that it took.
SqliteResult<void> prepare_connection(SqliteConnection& connection) {
  const auto mode = connection.value_of("PRAGMA journal_mode=WAL");
  if (!mode) {
    return tl::unexpected(mode.error());
  }
  if (*mode != "wal") {
    return tl::unexpected(SqliteFailure{SQLITE_CANTOPEN, 0, "the log cannot be used: " + *mode});
  }
  // The cache holds the dirty pages of one group; the log file is given back after a full disk.
  auto configured = connection.run(
      "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-16384;"
      "PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY; PRAGMA journal_size_limit=67108864;");
  if (!configured) {
    return configured;
  }
  const auto synchronous = connection.value_of("PRAGMA synchronous");
  if (!synchronous) {
    return tl::unexpected(synchronous.error());
  }
  if (*synchronous != "2") {
    return tl::unexpected(SqliteFailure{SQLITE_MISUSE, 0, "synchronous=FULL was not accepted"});
  }
  return empty_log(connection);
}

struct Connected {
  SqliteConnection connection;
  std::int32_t upgraded_from = 0;
};

base::Result<Connected> connect(const std::string& path) {
  auto connection = SqliteConnection::open(path);
  if (!connection) {
    return tl::unexpected(cannot_open(path, connection.error()));
  }
  sqlite3* const database = connection->get();
  if (sqlite3_db_readonly(database, "main") != 0) {
    return refuse(fmt::format(
        "The ledger {} cannot be written. Give this user the right to write to it.", path));
  }
  // Until the file is known to be ours, closing it must not change it.
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  const auto guarded = connection->run("PRAGMA locking_mode=EXCLUSIVE; PRAGMA cell_size_check=ON;");
  if (!guarded) {
    return tl::unexpected(cannot_open(path, guarded.error()));
  }
  const auto format = check_ledger_format(*connection, path);
  if (!format) {
    return tl::unexpected(format.error());
  }
  if (const auto prepared = prepare_connection(*connection); !prepared) {
    return tl::unexpected(cannot_open(path, prepared.error()));
  }
  if (const auto upgraded = upgrade_ledger(*connection, *format); !upgraded) {
    return tl::unexpected(cannot_open(path, upgraded.error()));
  }
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  return Connected{std::move(*connection), *format == kLedgerFormat ? 0 : *format};
}

}  // namespace

base::Result<LedgerFile> open_ledger_file(const std::string& path) {
  if (path.empty()) {
    return refuse("The ledger has no path.");
  }
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(fs::absolute(path), error);
  if (error || !resolved.has_filename()) {
    return refuse(fmt::format("The ledger's path {} cannot be used: {}.", path,
                              error ? error.message() : "it names a folder"));
  }
  if (const auto made = make_folders(resolved.parent_path()); !made) {
    return tl::unexpected(made.error());
  }
  auto lock = LedgerLock::take(resolved.string());
  if (!lock) {
    return tl::unexpected(std::move(lock.error()));
  }
  const auto exists = inspect(resolved.string());
  if (!exists) {
    return tl::unexpected(exists.error());
  }
  if (!*exists) {
    if (const auto made = make_ledger(resolved.string()); !made) {
      return tl::unexpected(made.error());
    }
  }
  auto connected = connect(resolved.string());
  if (!connected) {
    return tl::unexpected(std::move(connected.error()));
  }
  auto contents = read_ledger_contents(connected->connection, resolved.string());
  if (!contents) {
    return tl::unexpected(std::move(contents.error()));
  }
  contents->upgraded_from = connected->upgraded_from;
  return LedgerFile{resolved.string(), std::move(*lock), std::move(connected->connection),
                    std::move(*contents)};
}

}  // namespace fenceline::fencing
