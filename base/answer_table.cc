#include "base/answer_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace fenceline::base {
namespace {

constexpr int kSweptAtOnce = 100;

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    text.append(c == '"' ? 2 : 1, c);
  }
  text += '"';
  return text;
}

/// One minute more than the ttl: the one that has begun does not count.
std::int64_t minutes_of(Milliseconds ttl) {
  return std::chrono::ceil<std::chrono::minutes>(ttl).count() + 1;
}

}  // namespace

std::string AnswerTable::sql_to_make(std::string_view table) {
  const std::string name = quoted(table);
  return fmt::format(
      "CREATE TABLE IF NOT EXISTS {0}(key TEXT NOT NULL PRIMARY KEY, print TEXT NOT NULL, "
      "due INTEGER NOT NULL, claimed_by TEXT NOT NULL, before TEXT NOT NULL, "
      "status INTEGER NOT NULL, fields TEXT NOT NULL, body BLOB NOT NULL);"
      "CREATE INDEX IF NOT EXISTS {1} ON {0}(due)",
      name, quoted(std::string(table) + "_due"));
}

SqliteResult<AnswerTable> AnswerTable::prepare(SqliteConnection& connection,
                                               std::string_view table_name, std::size_t max_rows,
                                               const Clock& clock) {
  AnswerTable table(clock);
  table.max_rows_ = max_rows;
  table.database_ = connection.get();
  const std::string name = quoted(table_name);
  const std::pair<SqliteStatement*, std::string> statements[] = {
      {&table.find_,
       fmt::format("SELECT print, claimed_by, before, status, fields, body FROM main.{} "
                   "WHERE key = ?1",
                   name)},
      {&table.claim_,
       fmt::format("INSERT INTO main.{}(key, print, due, claimed_by, before, status, fields, body) "
                   "VALUES(?1, ?2, ?3, ?4, ?5, 0, '', x'')",
                   name)},
      {&table.keep_,
       fmt::format("INSERT INTO main.{}(key, print, due, claimed_by, before, status, fields, body) "
                   "VALUES(?1, ?2, ?3, '', '', ?4, ?5, ?6) ON CONFLICT(key) DO UPDATE SET "
                   "print = excluded.print, due = excluded.due, claimed_by = '', before = '', "
                   "status = excluded.status, fields = excluded.fields, body = excluded.body",
                   name)},
      {&table.drop_,
       fmt::format("DELETE FROM main.{} WHERE key = ?1 AND claimed_by = ?2 AND claimed_by <> ''",
                   name)},
      {&table.state_, fmt::format("SELECT due, status FROM main.{} WHERE key = ''", name)},
      {&table.store_,
       fmt::format("INSERT INTO main.{}(key, print, due, claimed_by, before, status, fields, body) "
                   "VALUES('', '', ?1, '', '', ?2, '', x'') ON CONFLICT(key) DO UPDATE SET "
                   "due = excluded.due, status = excluded.status",
                   name)},
      {&table.sweep_,
       fmt::format("DELETE FROM main.{0} WHERE key IN (SELECT key FROM main.{0} WHERE due < ?1 "
                   "AND key <> '' LIMIT {1})",
                   name, kSweptAtOnce)},
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

SqliteResult<std::optional<KeptRow>> AnswerTable::find(std::string_view key) {
  find_.bind_text(1, key);
  const auto row = find_.step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  if (!*row) {
    return std::nullopt;
  }
  KeptRow kept{.print = std::string(find_.text(0)),
               .claimed_by = std::string(find_.text(1)),
               .before = std::string(find_.text(2)),
               .answer = {.status = static_cast<int>(find_.number(3)),
                          .fields = fields_of_text(find_.text(4)),
                          .body = std::string(find_.text(5))}};
  find_.reset();
  return kept;
}

SqliteResult<bool> AnswerTable::has_room() {
  const auto now = pass_time();
  if (!now) {
    return tl::unexpected(now.error());
  }
  return now->rows < static_cast<std::int64_t>(max_rows_);
}

SqliteResult<void> AnswerTable::claim(const Once& once, std::string_view request_id,
                                      std::string_view before) {
  auto now = state();
  if (!now) {
    return tl::unexpected(std::move(now.error()));
  }
  claim_.bind_text(1, once.key);
  claim_.bind_text(2, once.print);
  claim_.bind_number(3, now->minute + minutes_of(once.ttl));
  claim_.bind_text(4, request_id);
  claim_.bind_text(5, before);
  if (auto done = run(claim_); !done) {
    return done;
  }
  ++now->rows;
  return store(*now);
}

SqliteResult<void> AnswerTable::keep(const Once& once, const KeptAnswer& answer) {
  auto now = state();
  if (!now) {
    return tl::unexpected(std::move(now.error()));
  }
  const auto before = find(once.key);
  if (!before) {
    return tl::unexpected(before.error());
  }
  const std::string fields = text_of_fields(answer.fields);
  keep_.bind_text(1, once.key);
  keep_.bind_text(2, once.print);
  keep_.bind_number(3, now->minute + minutes_of(once.ttl));
  keep_.bind_number(4, answer.status);
  keep_.bind_text(5, fields);
  keep_.bind_blob(6, answer.body);
  if (auto done = run(keep_); !done || *before) {
    return done;
  }
  ++now->rows;
  return store(*now);
}

SqliteResult<void> AnswerTable::drop(std::string_view key, std::string_view claimed_by) {
  auto now = state();
  if (!now) {
    return tl::unexpected(std::move(now.error()));
  }
  drop_.bind_text(1, key);
  drop_.bind_text(2, claimed_by);
  if (auto done = run(drop_); !done) {
    return done;
  }
  now->rows -= sqlite3_changes(database_);
  return store(*now);
}

SqliteResult<void> AnswerTable::run(SqliteStatement& statement) {
  const auto row = statement.step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  statement.reset();
  return {};
}

SqliteResult<AnswerTable::State> AnswerTable::state() {
  const auto row = state_.step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  State now;
  if (*row) {
    now = {.minute = state_.number(0), .rows = state_.number(1)};
    state_.reset();
  }
  return now;
}

SqliteResult<void> AnswerTable::store(const State& state) {
  store_.bind_number(1, state.minute);
  store_.bind_number(2, state.rows);
  return run(store_);
}

SqliteResult<AnswerTable::State> AnswerTable::pass_time() {
  auto now = state();
  if (!now) {
    return now;
  }
  // If this is rolled back, the minutes count for nothing: what is kept is kept for longer.
  const auto passed = std::chrono::floor<std::chrono::minutes>(clock_->now() - ticked_);
  ticked_ += passed;
  now->minute += passed.count();
  sweep_.bind_number(1, now->minute);
  if (auto swept = run(sweep_); !swept) {
    return tl::unexpected(std::move(swept.error()));
  }
  const int left = sqlite3_changes(database_);
  now->rows -= left;
  if (passed.count() > 0 || left > 0) {
    if (auto stored = store(*now); !stored) {
      return tl::unexpected(std::move(stored.error()));
    }
  }
  return now;
}

std::string text_of_fields(const std::vector<OwnedField>& fields) {
  std::string text;
  for (const auto& [name, value] : fields) {
    text += fmt::format("{}: {}\r\n", name, value);
  }
  return text;
}

std::vector<OwnedField> fields_of_text(std::string_view text) {
  std::vector<OwnedField> fields;
  while (!text.empty()) {
    const std::size_t end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    const std::size_t colon = line.find(": ");
    if (colon != std::string_view::npos) {
      fields.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  }
  return fields;
}

}  // namespace fenceline::base
