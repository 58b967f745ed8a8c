#include "fencing/ledger_format.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "fencing/ledger_identity.h"

namespace fenceline::fencing {
namespace {

// Text with the default collation: keys compare byte by byte. The text of this statement is part
// of the format: SQLite keeps it in the file, and it is compared there.
constexpr std::string_view kMarksTable =
    "CREATE TABLE marks (\n"
    "  key TEXT NOT NULL PRIMARY KEY,\n"
    "  token INTEGER NOT NULL CHECK (token > 0),\n"
    "  holder TEXT NOT NULL\n"
    ") STRICT, WITHOUT ROWID";

// One row.
constexpr std::string_view kIdentityTable =
    "CREATE TABLE ledger (\n"
    "  identity TEXT NOT NULL\n"
    ") STRICT";

// Since format 2. Rows are only added.
constexpr std::string_view kResetsTable =
    "CREATE TABLE resets (\n"
    "  key TEXT NOT NULL,\n"
    "  number INTEGER NOT NULL CHECK (number > 0),\n"
    "  at_ms INTEGER NOT NULL,\n"
    "  old_token INTEGER NOT NULL CHECK (old_token > 0),\n"
    "  old_holder TEXT NOT NULL,\n"
    "  new_token INTEGER NOT NULL CHECK (new_token > 0),\n"
    "  reason TEXT NOT NULL,\n"
    "  by TEXT NOT NULL,\n"
    "  peer TEXT NOT NULL,\n"
    "  PRIMARY KEY (key, number)\n"
    ") STRICT, WITHOUT ROWID";

// Since format 3.
constexpr std::string_view kIntentsTable =
    "CREATE TABLE intents (\n"
    "  key TEXT NOT NULL,\n"
    "  token INTEGER NOT NULL CHECK (token > 0),\n"
    "  route TEXT NOT NULL,\n"
    "  data TEXT NOT NULL,\n"
    "  PRIMARY KEY (key, token, route, data)\n"
    ") STRICT, WITHOUT ROWID";

// Since format 4. A key is of one lease at most, whatever the lessor does.
constexpr std::string_view kFormat4Tables =
    "CREATE TABLE leases (\n"
    "  id TEXT NOT NULL PRIMARY KEY,\n"
    "  token INTEGER NOT NULL CHECK (token > 0),\n"
    "  holder TEXT NOT NULL,\n"
    "  request_id TEXT NOT NULL,\n"
    "  ttl_ms INTEGER NOT NULL CHECK (ttl_ms > 0),\n"
    "  lock_delay_ms INTEGER NOT NULL CHECK (lock_delay_ms >= 0)\n"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE lease_keys (\n"
    "  lease TEXT NOT NULL,\n"
    "  key TEXT NOT NULL UNIQUE,\n"
    "  PRIMARY KEY (lease, key)\n"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE lock_delays (\n"
    "  key TEXT NOT NULL PRIMARY KEY,\n"
    "  delay_ms INTEGER NOT NULL CHECK (delay_ms > 0)\n"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE lease_tokens (\n"  // one row, from the first grant on
    "  only INTEGER NOT NULL PRIMARY KEY CHECK (only = 1),\n"
    "  last INTEGER NOT NULL CHECK (last > 0)\n"
    ") STRICT, WITHOUT ROWID;"
    // The columns are those of `base::AnswerTable`.
    "CREATE TABLE answers (\n"
    "  key TEXT NOT NULL PRIMARY KEY,\n"
    "  print TEXT NOT NULL,\n"
    "  due INTEGER NOT NULL,\n"
    "  claimed_by TEXT NOT NULL,\n"
    "  before TEXT NOT NULL,\n"
    "  status INTEGER NOT NULL,\n"
    "  fields TEXT NOT NULL,\n"
    "  body BLOB NOT NULL\n"
    ") STRICT;"
    "CREATE INDEX answers_due ON answers (due)";

/// The tables that each format has added to the one before it; the first has number 1.
constexpr std::array<std::string_view, kLedgerFormat> kAdded = {
    "",  // two tables, see `schema_of`
    kResetsTable,
    kIntentsTable,
    kFormat4Tables,
};

constexpr std::string_view kReadIdentity = "SELECT group_concat(identity) FROM ledger";

tl::unexpected<base::Error> refuse(std::string detail) {
  return base::fail(base::ErrorKind::kLedgerUnavailable, std::move(detail));
}

SqliteResult<std::int64_t> number_of(SqliteConnection& connection, std::string_view sql) {
  return connection.value_of(sql).map([](const std::string& text) {
    std::int64_t number = -1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  });
}

/// Refuses a database that another program, or a newer version of this one, has made.
base::Result<std::int32_t> check_maker(SqliteConnection& connection, const std::string& path) {
  const auto application = number_of(connection, "PRAGMA application_id");
  if (!application) {
    return tl::unexpected(cannot_open(path, application.error()));
  }
  const auto format = number_of(connection, "PRAGMA user_version");
  if (!format) {
    return tl::unexpected(cannot_open(path, format.error()));
  }
  if (*application != kLedgerApplicationId) {
    return refuse(fmt::format(
        "{} is a SQLite database, but not a ledger (application_id {}). Point ledger.sqlite at a "
        "file of its own.",
        path, *application));
  }
  if (*format > kLedgerFormat) {
    return refuse(fmt::format(
        "The ledger {} has format {}, written by a newer version of fenceline; this version reads "
        "up to format {}. Start the newer version.",
        path, *format, kLedgerFormat));
  }
  if (*format < 1) {
    return refuse(fmt::format("The ledger {} has the unknown format {}. Restore it from a backup.",
                              path, *format));
  }
  return static_cast<std::int32_t>(*format);
}

/// The statements of the tables that the formats above `from`, up to `to`, have added, a semicolon
/// before each.
std::string added_between(std::int32_t from, std::int32_t to) {
  std::string statements;
  for (std::int32_t format = from; format < to; ++format) {
    statements += ';';
    statements += kAdded.at(static_cast<std::size_t>(format));
  }
  return statements;
}

/// The statements of all tables, in the order in which they were made.
std::string schema_of(std::int32_t format) {
  return fmt::format("{};{}", kMarksTable, kIdentityTable) + added_between(1, format);
}

/// Refuses anything but exactly our tables: a trigger or an index of somebody else's could change
/// what a statement of ours does.
base::Result<void> check_tables(SqliteConnection& connection, const std::string& path,
                                std::int32_t format) {
  const auto tables = connection.value_of("SELECT group_concat(sql, ';') FROM sqlite_schema");
  if (!tables) {
    return tl::unexpected(cannot_open(path, tables.error()));
  }
  if (*tables != schema_of(format)) {
    return refuse(fmt::format(
        "The ledger {} has been altered: it holds other tables than those of a ledger. Restore it "
        "from a backup.",
        path));
  }
  return {};
}

base::Result<void> check_identity(SqliteConnection& connection, const std::string& path) {
  const auto identity = connection.value_of(kReadIdentity);
  if (!identity) {
    return tl::unexpected(cannot_open(path, identity.error()));
  }
  if (!is_ledger_identity(*identity)) {
    return refuse(fmt::format(
        "The ledger {} has been altered: its identity is missing, doubled or not 32 lower-case "
        "hexadecimal digits. Restore it from a backup.",
        path));
  }
  return {};
}

base::Result<void> check_pages(SqliteConnection& connection, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::file_size(path, ignored) > kFullyCheckedBytes) {
    return {};
  }
  // Not quick_check: it passes keys that are out of order, and a lookup would miss their marks.
  const auto verdict = connection.value_of("PRAGMA integrity_check(1)");
  if (!verdict) {
    return tl::unexpected(cannot_open(path, verdict.error()));
  }
  if (*verdict != "ok") {
    return refuse(
        fmt::format("The ledger {} is damaged: {}. Restore it from a backup, and then "
                    "raise the marks above every token granted since.",
                    path, *verdict));
  }
  return {};
}

}  // namespace

base::Error cannot_open(const std::string& path, const SqliteFailure& failure) {
  std::string detail;
  switch (failure.code & 0xFF) {
    case SQLITE_BUSY:
      detail = fmt::format(
          "The ledger {} is in use by another process, which has it open under "
          "another name or with another program. Stop that process.",
          path);
      break;
    case SQLITE_NOTADB:
      detail = fmt::format(
          "{} is not a SQLite database, so it is no ledger. Point ledger.sqlite at a file of its "
          "own; if this was the ledger, restore it from a backup.",
          path);
      break;
    case SQLITE_CORRUPT:
      detail = fmt::format(
          "The ledger {} is damaged: {}. Restore it from a backup, and then raise "
          "the marks above every token granted since.",
          path, failure.text);
      break;
    default:
      detail = fmt::format("The ledger {} cannot be opened: {}.", path, failure.text);
  }
  return base::Error{base::ErrorKind::kLedgerUnavailable, std::move(detail), base::Applied::kNo};
}

SqliteResult<void> write_empty_ledger(const std::string& path) {
  auto connection = SqliteConnection::open(path, SQLITE_OPEN_CREATE);
  if (!connection) {
    return tl::unexpected(std::move(connection.error()));
  }
  return connection->run(fmt::format(
      "PRAGMA page_size={}; PRAGMA synchronous=FULL; BEGIN EXCLUSIVE; PRAGMA application_id={}; "
      "PRAGMA user_version={}; {}; INSERT INTO ledger (identity) VALUES ('{}'); COMMIT;",
      kLedgerPageBytes, kLedgerApplicationId, kLedgerFormat, schema_of(kLedgerFormat),
      new_ledger_identity()));
}

base::Result<std::int32_t> check_ledger_format(SqliteConnection& connection,
                                               const std::string& path) {
  const auto format = check_maker(connection, path);
  if (!format) {
    return format;
  }
  return check_tables(connection, path, *format)
      .and_then([&] { return check_pages(connection, path); })
      .and_then([&] { return check_identity(connection, path); })
      .map([&] { return *format; });
}

SqliteResult<void> upgrade_ledger(SqliteConnection& connection, std::int32_t from) {
  if (from == kLedgerFormat) {
    return {};
  }
  return connection.run(fmt::format("BEGIN IMMEDIATE{}; PRAGMA user_version={}; COMMIT;",
                                    added_between(from, kLedgerFormat), kLedgerFormat));
}

base::Result<LedgerContents> read_ledger_contents(SqliteConnection& connection,
                                                  const std::string& path) {
  LedgerContents contents;
  auto identity = connection.value_of(kReadIdentity);
  if (!identity) {
    return tl::unexpected(cannot_open(path, identity.error()));
  }
  contents.identity = std::move(*identity);
  const auto marks = number_of(connection, "SELECT EXISTS (SELECT 1 FROM marks)");
  if (!marks) {
    return tl::unexpected(cannot_open(path, marks.error()));
  }
  contents.no_marks = *marks == 0;
  return contents;
}

}  // namespace fenceline::fencing
