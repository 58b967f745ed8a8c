#include "backends/sqlite/database_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "backends/sqlite/marks.h"
#include "backends/sqlite/trouble.h"
#include "base/unique_fd.h"

namespace fenceline::backends::sqlite {
namespace {

namespace fs = std::filesystem;

tl::unexpected<base::Error> refuse(std::string detail) {
  return base::fail(base::ErrorKind::kStorageFailed, std::move(detail));
}

std::string reason_of(int code) { return std::generic_category().message(code); }

base::Result<void> sync_folder(const fs::path& folder) {
  const base::UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0) {
    return refuse(fmt::format("The folder {} of a database cannot be made durable: {}.",
                              folder.string(), reason_of(errno)));
  }
  return {};
}

base::Result<void> make_folders(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) {
    return {};
  }
  if (auto above = make_folders(folder.parent_path()); !above) {
    return above;
  }
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return refuse(fmt::format("The folder {} of a database cannot be made: {}.", folder.string(),
                              reason_of(errno)));
  }
  return sync_folder(folder.parent_path());
}

/// A new database appears under its name only when it is one, so that an empty file is never ours.
base::Result<void> make_database(const std::string& path) {
  const std::string unfinished = path + ".new";
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    ::unlink((unfinished + suffix).c_str());
  }
  auto made = base::SqliteConnection::open(unfinished, SQLITE_OPEN_CREATE)
                  .and_then([](base::SqliteConnection connection) {
                    return connection.run(
                        "PRAGMA synchronous=FULL; PRAGMA encoding='UTF-8'; PRAGMA user_version=0;"
                        "CREATE TABLE made(here); DROP TABLE made;");
                  });
  if (!made) {
    return tl::unexpected(cannot_open(made.error(), path));
  }
  if (::rename(unfinished.c_str(), path.c_str()) != 0) {
    return refuse(fmt::format("The database {} cannot be created: {}.", path, reason_of(errno)));
  }
  return sync_folder(fs::path(path).parent_path());
}

/// Looks at the file by its name only: opening and closing a database drops SQLite's locks on it.
/// Success: true if there is a file to open.
base::Result<bool> inspect(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
    return refuse(
        fmt::format("The database {} is a symbolic link to nothing. Put the database "
                    "back, or remove the link to begin with an empty one.",
                    path));
  }
  if (::stat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) {
      return refuse(
          fmt::format("The database {} cannot be looked at: {}.", path, reason_of(errno)));
    }
    if (::stat((path + "-wal").c_str(), &status) == 0) {
      // SQLite would delete the log, and with it what was answered.
      return refuse(
          fmt::format("The database {0} is missing, but its log {0}-wal is there. Put "
                      "the database back, or remove the log to begin with an empty one.",
                      path));
    }
    return false;
  }
  if (!S_ISREG(status.st_mode)) {
    return refuse(
        fmt::format("{} is not a regular file, so it is no database. Name another file.", path));
  }
  if (status.st_size == 0) {
    return refuse(
        fmt::format("The database {} is empty: its content is lost. Restore it from a "
                    "backup, or remove it to begin with an empty one.",
                    path));
  }
  if (status.st_nlink > 1) {
    return refuse(
        fmt::format("The database {} has {} names (hard links). SQLite keeps its log "
                    "under one name, so opened by another it would lose writes. Remove "
                    "the other names.",
                    path, static_cast<std::uintmax_t>(status.st_nlink)));
  }
  return true;
}

/// Makes the log durably empty. Without the last sync a power loss can bring back the part of the
/// log that an earlier, failed fsync had saved; replayed over the file, it would take writes back.
SqliteResult<void> empty_log(Connection& writer) {
  if (auto copied = writer.raw().checkpoint(SQLITE_CHECKPOINT_TRUNCATE); !copied) {
    return copied;
  }
  sqlite3_file* log = nullptr;
  sqlite3_file_control(writer.get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (log == nullptr || log->pMethods == nullptr) {
    return tl::unexpected(SqliteFailure{SQLITE_CANTOPEN, 0, "the log is not open"});
  }
  errno = 0;
  if (const int code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL); code != SQLITE_OK) {
    return tl::unexpected(base::failure_of(nullptr, code));
  }
  return {};
}

SqliteResult<void> expect(Connection& connection, const char* sql, std::string_view wanted,
                          const char* otherwise) {
  auto value = connection.raw().value_of(sql);
  if (!value) {
    return tl::unexpected(std::move(value.error()));
  }
  if (*value != wanted) {
    return tl::unexpected(
        SqliteFailure{SQLITE_CANTOPEN, 0, fmt::format("{} (it is {})", otherwise, *value)});
  }
  return {};
}

/// Brings the writer into the one mode we rely on.
SqliteResult<void> prepare_writer(Connection& writer) {
  // The first to read the file: a damaged or foreign one fails here, unchanged.
  return expect(writer, "PRAGMA encoding", "UTF-8", "its text is not kept as UTF-8")
      .and_then([&] {
        return expect(writer, "PRAGMA journal_mode=WAL", "wal", "its log (WAL) cannot be used");
      })
      .and_then([&] {
        return expect(writer, "PRAGMA synchronous", "2", "synchronous=FULL was not accepted");
      })
      .and_then([&] {
        return writer.run("PRAGMA cache_size=-16384; PRAGMA journal_size_limit=67108864;");
      })
      .and_then([&] { return empty_log(writer); });
}

}  // namespace

base::Result<std::string> canonical_path(const std::string& path) {
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(fs::absolute(path), error);
  if (path.empty() || error || !resolved.has_filename()) {
    return refuse(fmt::format("The path \"{}\" of a database cannot be used: {}.", path,
                              error ? error.message() : "it names no file"));
  }
  return resolved.string();
}

base::Result<DatabaseFile> open_database_file(const std::string& path, const std::string& marks,
                                              base::Milliseconds busy) {
  if (auto made = make_folders(fs::path(path).parent_path()); !made) {
    return tl::unexpected(std::move(made.error()));
  }
  auto lock = DatabaseLock::take(path);
  if (!lock) {
    return tl::unexpected(std::move(lock.error()));
  }
  const auto exists = inspect(path);
  if (!exists) {
    return tl::unexpected(exists.error());
  }
  if (!*exists) {
    if (auto made = make_database(path); !made) {
      return tl::unexpected(std::move(made.error()));
    }
  }
  auto writer = Connection::open(path, marks, busy);
  if (!writer) {
    return tl::unexpected(cannot_open(writer.error(), path));
  }
  if (sqlite3_db_readonly((*writer)->get(), "main") != 0) {
    return refuse(fmt::format(
        "The database {} cannot be written. Give this user the right to write to it.", path));
  }
  if (auto prepared = prepare_writer(**writer); !prepared) {
    return tl::unexpected(cannot_open(prepared.error(), path));
  }
  if (auto made = make_marks_table(**writer, marks, path); !made) {
    return tl::unexpected(std::move(made.error()));
  }
  // It tries for the lock and never waits: while it waited, no write would be answered.
  auto guard = Connection::open(path, marks, base::Milliseconds{0});
  if (!guard) {
    return tl::unexpected(cannot_open(guard.error(), path));
  }
  return DatabaseFile{path, *std::move(lock), *std::move(writer), *std::move(guard)};
}

SqliteResult<bool> checkpoint(Connection& writer, Connection& guard) {
  if (auto alone = guard.run("BEGIN IMMEDIATE"); !alone) {
    if ((alone.error().code & 0xFF) == SQLITE_BUSY) {
      return false;
    }
    return tl::unexpected(std::move(alone.error()));
  }
  auto copied = writer.raw().checkpoint(SQLITE_CHECKPOINT_PASSIVE);
  const auto ended = guard.run("ROLLBACK");
  if (!copied) {
    return tl::unexpected(std::move(copied.error()));
  }
  if (!ended) {
    return tl::unexpected(ended.error());
  }
  return true;
}

}  // namespace fenceline::backends::sqlite
