#pragma once

// SQLite's C interface as values that clean up after themselves. Nothing here knows the ledger.

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace fenceline::base {

/// A failed call of SQLite.
struct SqliteFailure {
  int code = SQLITE_ERROR;  ///< Extended result code.
  int system_errno = 0;     ///< What the operating system said; 0 if it was not asked.
  std::string text;         ///< For the operator: message, code, reason of the system.
};

template <typename T>
using SqliteResult = tl::expected<T, SqliteFailure>;

/// What is known about the file after a failure, once the transaction has been rolled back.
enum class Aftermath : std::uint8_t {
  kKnown,    ///< Nothing of the transaction was applied; later ones may succeed.
  kUnknown,  ///< The file or the disk cannot be trusted until it has been read afresh.
};

/// Which it is for this failure. Disk full (also EDQUOT and EFBIG on a write), out of memory, busy
/// and a failed read are known; every other I/O error, above all a failed fsync (the kernel may
/// have dropped the pages and say OK the next time), a corrupt file and all else are unknown. Pure.
Aftermath aftermath_of(const SqliteFailure& failure);

/// A prepared statement that is run again and again. Belongs to one connection, which must outlive
/// it; one thread at a time. What is bound must stay valid until `reset` or the end of the rows.
class SqliteStatement {
 public:
  SqliteStatement() = default;
  explicit SqliteStatement(sqlite3_stmt* statement) : statement_(statement) {}

  /// Binds to `?index`, counted from 1. A failure to bind is reported by the next `step`.
  void bind_text(int index, std::string_view text);
  void bind_blob(int index, std::string_view bytes);
  void bind_number(int index, std::int64_t number);
  void bind_real(int index, double number);
  void bind_null(int index);
  /// A value that sorts above every text (an empty BLOB).
  void bind_above_all_text(int index);

  /// Runs to the next row.
  /// Success: true if there is a row to look at; false at the end, then it has been reset.
  /// Failure: of the statement or of a binding; it has been reset.
  SqliteResult<bool> step();

  /// Ends the rows early.
  void reset() { sqlite3_reset(statement_.get()); }

  /// Columns of the current row, counted from 0; a text is valid until the next call that is not
  /// about columns.
  [[nodiscard]] std::string_view text(int column) const;
  [[nodiscard]] std::int64_t number(int column) const;

  [[nodiscard]] sqlite3_stmt* get() const { return statement_.get(); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  void note(int code) { bind_code_ = code == SQLITE_OK ? bind_code_ : code; }

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bind_code_ = SQLITE_OK;
};

/// One connection to one database file. One thread at a time (`SQLITE_OPEN_NOMUTEX`).
class SqliteConnection {
 public:
  /// Opens the file at the absolute path `path`; `flags` are added to those for reading and
  /// writing. SQLite reads the file only at the first statement, so a bad file fails there.
  static SqliteResult<SqliteConnection> open(const std::string& path, int flags = 0);

  /// Runs one or more statements and drops their rows.
  SqliteResult<void> run(const std::string& sql);

  /// The first column of the first row, as text; empty if there is no row.
  SqliteResult<std::string> value_of(std::string_view sql);

  /// Copies the log into the file, as `mode` (SQLITE_CHECKPOINT_…) says.
  SqliteResult<void> checkpoint(int mode);

  SqliteResult<SqliteStatement> prepare(std::string_view sql);

  [[nodiscard]] sqlite3* get() const { return database_.get(); }

 private:
  struct Close {
    // v2: a statement that is still alive delays the closing instead of leaking the file.
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };

  std::unique_ptr<sqlite3, Close> database_;
};

/// The failure with `code` that `database` (may be null) has just had. The reason of the system is
/// taken from `errno`, which must have been 0 before the call: sqlite3_system_errno() forgets it
/// when a COMMIT fails.
SqliteFailure failure_of(sqlite3* database, int code);

}  // namespace fenceline::base
