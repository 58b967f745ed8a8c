#include "base/sqlite_connection.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace fenceline::base {
namespace {

bool is_full(int errno_value) {
  return errno_value == ENOSPC || errno_value == EDQUOT || errno_value == EFBIG;
}

constexpr int primary_code(int code) { return code & 0xFF; }

}  // namespace

SqliteFailure failure_of(sqlite3* database, int code) {
  const int reason = errno;  // before anything below changes it
  const int primary = primary_code(code);
  SqliteFailure failure{code, 0, {}};
  // The connection's message can be older than a failure that never reached a statement.
  const bool current = database != nullptr && sqlite3_extended_errcode(database) == code;
  failure.text = fmt::format("{} (SQLite code {})",
                             current ? sqlite3_errmsg(database) : sqlite3_errstr(code), code);
  if (reason != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) {
    failure.system_errno = reason;
    failure.text += ": " + std::generic_category().message(reason);
  }
  return failure;
}

Aftermath aftermath_of(const SqliteFailure& failure) {
  switch (primary_code(failure.code)) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_BUSY:
      return Aftermath::kKnown;
    case SQLITE_IOERR:
      break;
    default:
      return Aftermath::kUnknown;
  }
  switch (failure.code) {
    case SQLITE_IOERR_NOMEM:
    case SQLITE_IOERR_READ:
      return Aftermath::kKnown;
    case SQLITE_IOERR_WRITE:
      // Refused by the system before it took the data, so the next commit writes it again.
      return is_full(failure.system_errno) ? Aftermath::kKnown : Aftermath::kUnknown;
    default:
      return Aftermath::kUnknown;
  }
}

void SqliteStatement::bind_text(int index, std::string_view text) {
  // A null pointer would bind NULL.
  const char* const data = text.data() == nullptr ? "" : text.data();
  note(sqlite3_bind_text64(statement_.get(), index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void SqliteStatement::bind_blob(int index, std::string_view bytes) {
  const char* const data = bytes.data() == nullptr ? "" : bytes.data();
  note(sqlite3_bind_blob64(statement_.get(), index, data, bytes.size(), SQLITE_STATIC));
}

void SqliteStatement::bind_real(int index, double number) {
  note(sqlite3_bind_double(statement_.get(), index, number));
}

void SqliteStatement::bind_null(int index) { note(sqlite3_bind_null(statement_.get(), index)); }

void SqliteStatement::bind_number(int index, std::int64_t number) {
  note(sqlite3_bind_int64(statement_.get(), index, number));
}

void SqliteStatement::bind_above_all_text(int index) {
  note(sqlite3_bind_zeroblob(statement_.get(), index, 0));
}

SqliteResult<bool> SqliteStatement::step() {
  sqlite3* const database = sqlite3_db_handle(statement_.get());
  if (const int code = std::exchange(bind_code_, SQLITE_OK); code != SQLITE_OK) {
    return tl::unexpected(failure_of(database, code));
  }
  errno = 0;
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) {
    return true;
  }
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_.get());
    return false;
  }
  SqliteFailure failure = failure_of(database, code);
  sqlite3_reset(statement_.get());
  return tl::unexpected(std::move(failure));
}

std::string_view SqliteStatement::text(int column) const {
  // As a blob: column_text may have to allocate for a terminator, and answers NULL if it cannot.
  const void* const data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr
             ? std::string_view()
             : std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

std::int64_t SqliteStatement::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

SqliteResult<SqliteConnection> SqliteConnection::open(const std::string& path, int flags) {
  SqliteConnection connection;
  sqlite3* database = nullptr;
  errno = 0;
  const int code = sqlite3_open_v2(
      path.c_str(), &database,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | flags, nullptr);
  connection.database_.reset(database);  // there is one to close even after most failures
  if (code != SQLITE_OK) {
    return tl::unexpected(failure_of(database, code));
  }
  return connection;
}

SqliteResult<void> SqliteConnection::run(const std::string& sql) {
  errno = 0;
  const int code = sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    return tl::unexpected(failure_of(get(), code));
  }
  return {};
}

SqliteResult<std::string> SqliteConnection::value_of(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) {
    return tl::unexpected(std::move(statement.error()));
  }
  const auto row = statement->step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  return *row ? std::string(statement->text(0)) : std::string();
}

SqliteResult<void> SqliteConnection::checkpoint(int mode) {
  errno = 0;
  const int code = sqlite3_wal_checkpoint_v2(get(), "main", mode, nullptr, nullptr);
  if (code != SQLITE_OK) {
    return tl::unexpected(failure_of(get(), code));
  }
  return {};
}

SqliteResult<SqliteStatement> SqliteConnection::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  errno = 0;
  const int code = sqlite3_prepare_v3(get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) {
    return tl::unexpected(failure_of(get(), code));
  }
  return SqliteStatement(statement);
}

}  // namespace fenceline::base
