#include "fencing/reset_table.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace fenceline::fencing {

SqliteResult<ResetTable> ResetTable::prepare(SqliteConnection& connection) {
  ResetTable table;
  // Numbered by the transaction that adds the row: times of the wall clock may repeat or go back.
  auto add = connection.prepare(
      "INSERT INTO resets (key, number, at_ms, old_token, old_holder, new_token, reason, by, peer) "
      "VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM resets WHERE key = ?1), ?2, ?3, ?4, "
      "?5, ?6, ?7, ?8)");
  if (!add) {
    return tl::unexpected(std::move(add.error()));
  }
  table.add_ = std::move(*add);
  auto latest = connection.prepare(
      "SELECT old_token, old_holder, new_token, reason, by, peer, at_ms FROM resets "
      "WHERE key = ?1 ORDER BY number DESC LIMIT ?2");
  if (!latest) {
    return tl::unexpected(std::move(latest.error()));
  }
  table.latest_ = std::move(*latest);
  return table;
}

SqliteResult<void> ResetTable::add(std::string_view key, const ResetRecord& record) {
  add_.bind_text(1, key);
  add_.bind_number(2, record.at_ms);
  add_.bind_number(3, record.before.token.value());
  add_.bind_text(4, record.before.holder);
  add_.bind_number(5, record.to.value());
  add_.bind_text(6, record.reason);
  add_.bind_text(7, record.by);
  add_.bind_text(8, record.peer);
  const auto row = add_.step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  return {};
}

SqliteResult<std::vector<ResetRecord>> ResetTable::latest(std::string_view key, std::size_t limit) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  latest_.bind_text(1, key);
  latest_.bind_number(2, static_cast<std::int64_t>(std::min(limit, kMost)));
  std::vector<ResetRecord> rows;
  while (true) {
    const auto row = latest_.step();
    if (!row) {
      return tl::unexpected(row.error());
    }
    if (!*row) {
      return rows;
    }
    const std::int64_t before = latest_.number(0);
    const std::int64_t to = latest_.number(2);
    if (before <= 0 || to <= 0) {
      latest_.reset();
      return tl::unexpected(
          SqliteFailure{SQLITE_CORRUPT, 0, "a mark in the audit of resets is not positive"});
    }
    ResetRecord record;
    record.before = Mark{base::Token::of(before), std::string(latest_.text(1))};
    record.to = base::Token::of(to);
    record.reason = latest_.text(3);
    record.by = latest_.text(4);
    record.peer = latest_.text(5);
    record.at_ms = latest_.number(6);
    rows.push_back(std::move(record));
  }
}

}  // namespace fenceline::fencing
