#include "fencing/mark_table.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace fenceline::fencing {
namespace {

SqliteResult<Mark> mark_from(const SqliteStatement& row, int token_column) {
  const std::int64_t token = row.number(token_column);
  if (token <= 0) {
    return tl::unexpected(SqliteFailure{SQLITE_CORRUPT, 0, "a mark in the table is not positive"});
  }
  return Mark{base::Token::of(token), std::string(row.text(token_column + 1))};
}

}  // namespace

SqliteResult<MarkTable> MarkTable::prepare(SqliteConnection& connection) {
  MarkTable table;
  table.database_ = connection.get();
  const std::pair<SqliteStatement*, std::string_view> statements[] = {
      {&table.find_, "SELECT token, holder FROM marks WHERE key = ?1"},
      {&table.store_,
       "INSERT INTO marks (key, token, holder) VALUES (?1, ?2, ?3) "
       "ON CONFLICT (key) DO UPDATE SET token = excluded.token, holder = excluded.holder"},
      {&table.scan_,
       "SELECT key, token, holder FROM marks WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3"},
      {&table.begin_, "BEGIN IMMEDIATE"},
      {&table.commit_, "COMMIT"},
      {&table.roll_back_, "ROLLBACK"},
  };
  for (const auto& [statement, sql] : statements) {
    auto prepared = connection.prepare(sql);
    if (!prepared) {
      return tl::unexpected(std::move(prepared.error()));
    }
    *statement = std::move(*prepared);
  }
  return table;
}

SqliteResult<Mark> MarkTable::find(std::string_view key) {
  find_.bind_text(1, key);
  const auto row = find_.step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  if (!*row) {
    return Mark{};
  }
  auto mark = mark_from(find_, 0);
  find_.reset();
  return mark;
}

SqliteResult<void> MarkTable::store(std::string_view key, const Mark& mark) {
  store_.bind_text(1, key);
  store_.bind_number(2, mark.token.value());
  store_.bind_text(3, mark.holder);
  return run(store_);
}

SqliteResult<std::vector<KeyedMark>> MarkTable::scan(const KeyRange& range, std::size_t limit) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  scan_.bind_text(1, range.first);
  if (range.end) {
    scan_.bind_text(2, *range.end);
  } else {
    scan_.bind_above_all_text(2);
  }
  scan_.bind_number(3, static_cast<std::int64_t>(std::min(limit, kMost)));
  std::vector<KeyedMark> rows;
  while (true) {
    const auto row = scan_.step();
    if (!row) {
      return tl::unexpected(row.error());
    }
    if (!*row) {
      return rows;
    }
    auto mark = mark_from(scan_, 1);
    if (!mark) {
      scan_.reset();
      return tl::unexpected(std::move(mark.error()));
    }
    rows.push_back(KeyedMark{std::string(scan_.text(0)), std::move(*mark)});
  }
}

SqliteResult<void> MarkTable::roll_back() {
  // SQLite ends the transaction by itself after some failures.
  if (sqlite3_get_autocommit(database_) != 0) {
    return {};
  }
  return run(roll_back_);
}

SqliteResult<void> MarkTable::run(SqliteStatement& statement) {
  const auto row = statement.step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  return {};
}

}  // namespace fenceline::fencing
