#include "backends/sqlite/trouble.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>

namespace fenceline::backends::sqlite {
namespace {

using base::Error;
using base::ErrorKind;
using base::SqliteFailure;

constexpr int primary(int code) { return code & 0xFF; }

bool is_full(const SqliteFailure& failure) {
  const int reason = failure.system_errno;
  return primary(failure.code) == SQLITE_FULL || reason == ENOSPC || reason == EDQUOT ||
         reason == EFBIG;
}

std::string_view fix_for(const SqliteFailure& failure) {
  if (is_full(failure)) {
    return "Make room on its disk";
  }
  switch (primary(failure.code)) {
    case SQLITE_NOTADB:
      return "It is no SQLite database (or encrypted): name another file, or restore it from a "
             "backup";
    case SQLITE_CORRUPT:
      return "It is damaged: restore it, with its -wal file, from a backup";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
      return "Give this user the right to read and write it, its -wal and -shm files and its "
             "folder";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "Another process has it locked: end that one's transaction";
    default:
      return "Check the disk";
  }
}

}  // namespace

Reach reach_of(const SqliteFailure& failure) {
  switch (primary(failure.code)) {
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_RANGE:
    case SQLITE_ERROR:
    case SQLITE_AUTH:
    case SQLITE_SCHEMA:
    case SQLITE_INTERRUPT:
    case SQLITE_ABORT:
      // A transaction that was ended under us is no matter of one statement.
      return failure.code == SQLITE_ABORT_ROLLBACK ? Reach::kForGood : Reach::kStatement;
    case SQLITE_LOCKED:
    case SQLITE_CANTOPEN:
      return Reach::kMoment;
    case SQLITE_READONLY:
      return failure.code == SQLITE_READONLY_DBMOVED ? Reach::kForGood : Reach::kMoment;
    default:
      return base::aftermath_of(failure) == base::Aftermath::kKnown ? Reach::kMoment
                                                                    : Reach::kForGood;
  }
}

std::string DatabaseName::file() const { return std::filesystem::path(path).filename().string(); }

Error error_of(const SqliteFailure& failure, const DatabaseName& database, std::string_view doing) {
  const std::string where = fmt::format("cannot {} the database {}", doing, database.file());
  if (is_full(failure)) {
    return {ErrorKind::kInsufficientStorage,
            fmt::format("{}: {}; nothing was changed", where, failure.text)};
  }
  switch (primary(failure.code)) {
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return {ErrorKind::kConstraintFailed,
              fmt::format("{}: {}. Nothing was changed", where, failure.text)};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::kOverloaded,
              fmt::format("{}: another process has it locked ({}). Send the request again later",
                          where, failure.text)};
    case SQLITE_INTERRUPT:
      return {ErrorKind::kOverloaded,
              fmt::format("{}: it took too long and was stopped. Ask for less, or send the request "
                          "again later",
                          where)};
    case SQLITE_NOMEM:
      return {ErrorKind::kOverloaded,
              fmt::format("{}: out of memory. Send the request again later", where)};
    default:
      return {ErrorKind::kStorageFailed, fmt::format("{}: {}", where, failure.text)};
  }
}

Error cannot_open(const SqliteFailure& failure, const std::string& path) {
  return {is_full(failure) ? ErrorKind::kInsufficientStorage : ErrorKind::kStorageFailed,
          fmt::format("The database {} cannot be opened: {}. {}.", path, failure.text,
                      fix_for(failure))};
}

}  // namespace fenceline::backends::sqlite
