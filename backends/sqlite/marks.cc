#include "backends/sqlite/marks.h"

#include <fmt/format.h>

#include <utility>

#include "backends/sqlite/trouble.h"

namespace fenceline::backends::sqlite {
namespace {

/// True if `column` is there with this type, and compared by its bytes.
bool has_column(sqlite3* database, const std::string& table, const char* column,
                std::string_view type, bool is_key) {
  const char* declared = nullptr;
  const char* collation = nullptr;
  int in_key = 0;
  const int code = sqlite3_table_column_metadata(database, "main", table.c_str(), column, &declared,
                                                 &collation, nullptr, &in_key, nullptr);
  return code == SQLITE_OK && declared != nullptr &&
         sqlite3_stricmp(declared, std::string(type).c_str()) == 0 &&
         sqlite3_stricmp(collation, "BINARY") == 0 && (in_key != 0) == is_key;
}

}  // namespace

base::Result<void> make_marks_table(Connection& writer, const std::string& marks,
                                    const std::string& path) {
  const auto made = writer.run(
      fmt::format("CREATE TABLE IF NOT EXISTS {}(key TEXT NOT NULL PRIMARY KEY, token INTEGER NOT "
                  "NULL CHECK (token > 0)) WITHOUT ROWID",
                  quoted_name(marks)));
  if (!made) {
    return tl::unexpected(cannot_open(made.error(), path));
  }
  if (!has_column(writer.get(), marks, "key", "TEXT", true) ||
      !has_column(writer.get(), marks, "token", "INTEGER", false) ||
      !Marks(marks).prepare(writer)) {
    return base::fail(
        base::ErrorKind::kStorageFailed,
        fmt::format("The table \"{}\" of the database {} is no table of marks (key TEXT PRIMARY "
                    "KEY, token INTEGER). Name another one with marks.",
                    marks, path));
  }
  return {};
}

Marks::Marks(const std::string& table)
    : find_(fmt::format("SELECT token FROM main.{} WHERE key=?1", quoted_name(table))),
      store_(
          fmt::format("INSERT INTO main.{}(key, token) VALUES(?1, ?2) ON CONFLICT(key) DO UPDATE "
                      "SET token=excluded.token",
                      quoted_name(table))),
      remove_(fmt::format("DELETE FROM main.{} WHERE key=?1", quoted_name(table))) {}

SqliteResult<void> Marks::prepare(Connection& connection) const {
  for (const std::string* sql : {&find_, &store_, &remove_}) {
    if (auto run = connection.prepared(*sql); !run) {
      return tl::unexpected(std::move(run.error()));
    }
  }
  return {};
}

SqliteResult<base::Token> Marks::find(Connection& connection, std::string_view key) const {
  auto run = connection.prepared(find_);
  if (!run) {
    return tl::unexpected(std::move(run.error()));
  }
  (*run)->bind_text(1, key);
  const auto row = (*run)->step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  const std::int64_t token = *row ? (*run)->number(0) : 0;
  if (token < 0 || (*row && token == 0)) {
    // An unreadable mark is not "no mark".
    return tl::unexpected(
        SqliteFailure{SQLITE_ERROR, 0, "a mark in the table of marks is no token"});
  }
  return base::Token::of(token);
}

SqliteResult<base::Token> Marks::raise(Connection& writer, std::string_view key,
                                       base::Token token) const {
  auto mark = find(writer, key);
  if (!mark || *mark >= token) {
    return mark;
  }
  if (auto stored = set(writer, key, token); !stored) {
    return tl::unexpected(std::move(stored.error()));
  }
  return token;
}

SqliteResult<void> Marks::set(Connection& writer, std::string_view key, base::Token to) const {
  auto run = writer.prepared(to.exists() ? store_ : remove_);
  if (!run) {
    return tl::unexpected(std::move(run.error()));
  }
  (*run)->bind_text(1, key);
  if (to.exists()) {
    (*run)->bind_number(2, to.value());
  }
  const auto done = (*run)->step();
  if (!done) {
    return tl::unexpected(done.error());
  }
  return {};
}

base::Error stale(base::Token token, base::Token mark) {
  base::Error error{
      base::ErrorKind::kStaleToken,
      fmt::format("Token {} is older than {}, the mark in the database: somebody else holds the "
                  "lease now. Take the lease again and use its new token.",
                  token.text(), mark.text())};
  error.store_mark = mark.value();
  return error;
}

}  // namespace fenceline::backends::sqlite
