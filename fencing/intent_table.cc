#include "fencing/intent_table.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace fenceline::fencing {

SqliteResult<IntentTable> IntentTable::prepare(SqliteConnection& connection) {
  IntentTable table;
  table.database_ = connection.get();
  const std::pair<SqliteStatement*, std::string_view> statements[] = {
      {&table.put_,
       "INSERT INTO intents (key, token, route, data) VALUES (?1, ?2, ?3, ?4) "
       "ON CONFLICT DO NOTHING"},
      {&table.drop_,
       "DELETE FROM intents WHERE key = ?1 AND token = ?2 AND route = ?3 AND data = ?4"},
      {&table.all_, "SELECT key, token, route, data FROM intents ORDER BY key, token, route, data"},
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

SqliteResult<bool> IntentTable::apply(const std::optional<Intent>& put,
                                      const std::vector<Intent>& drop) {
  bool changed = false;
  for (const Intent& intent : drop) {
    const auto dropped = run(drop_, intent);
    if (!dropped) {
      return dropped;
    }
    changed = changed || *dropped;
  }
  if (put) {
    const auto added = run(put_, *put);
    if (!added) {
      return added;
    }
    changed = changed || *added;
  }
  return changed;
}

SqliteResult<bool> IntentTable::run(SqliteStatement& statement, const Intent& intent) {
  statement.bind_text(1, intent.key);
  statement.bind_number(2, intent.token.value());
  statement.bind_text(3, intent.route);
  statement.bind_text(4, intent.data);
  const auto row = statement.step();
  if (!row) {
    return tl::unexpected(row.error());
  }
  return sqlite3_changes(database_) > 0;
}

SqliteResult<std::vector<Intent>> IntentTable::all() {
  std::vector<Intent> rows;
  while (true) {
    const auto row = all_.step();
    if (!row) {
      return tl::unexpected(row.error());
    }
    if (!*row) {
      return rows;
    }
    const std::int64_t token = all_.number(1);
    if (token <= 0) {
      all_.reset();
      return tl::unexpected(
          SqliteFailure{SQLITE_CORRUPT, 0, "the token of an intent is not positive"});
    }
    rows.push_back(Intent{std::string(all_.text(0)), base::Token::of(token),
                          std::string(all_.text(2)), std::string(all_.text(3))});
  }
}

}  // namespace fenceline::fencing
