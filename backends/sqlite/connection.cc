#include "backends/sqlite/connection.h"

#include <array>
#include <string_view>
#include <utility>

namespace fenceline::backends::sqlite {
namespace {

// How many steps of SQLite's machine pass between two looks at the clock: some 100 microseconds.
constexpr int kStepsBetweenLooks = 10'000;

bool is_schema_table(const char* table) {
  const std::string_view name = table == nullptr ? "" : table;
  return name.starts_with("sqlite_");
}

/// The tables that no statement of an operator reaches.
bool is_ours(const char* table, const std::string& marks) {
  return sqlite3_stricmp(table, marks.c_str()) == 0 || sqlite3_stricmp(table, kAnswersTable) == 0;
}

}  // namespace

Run::~Run() {
  if (statement_ != nullptr) {
    sqlite3_reset(statement_->get());
    sqlite3_clear_bindings(statement_->get());
  }
}

Connection::Connection(base::SqliteConnection connection, std::string marks)
    : marks_(std::move(marks)), connection_(std::move(connection)) {}

SqliteResult<std::unique_ptr<Connection>> Connection::open(const std::string& path,
                                                           std::string marks,
                                                           base::Milliseconds busy) {
  auto opened = base::SqliteConnection::open(path);
  if (!opened) {
    return tl::unexpected(std::move(opened.error()));
  }
  std::unique_ptr<Connection> connection(new Connection(*std::move(opened), std::move(marks)));
  sqlite3* const database = connection->get();
  sqlite3_busy_timeout(database, static_cast<int>(busy.count()));
  // Only the writer checkpoints, when it says so.
  sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_FKEY, 1, nullptr);
  auto configured = connection->run(
      "PRAGMA wal_autocheckpoint=0; PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY;"
      "PRAGMA mmap_size=0; PRAGMA synchronous=FULL");
  if (!configured) {
    return tl::unexpected(std::move(configured.error()));
  }
  sqlite3_set_authorizer(database, &Connection::authorize, connection.get());
  sqlite3_progress_handler(database, kStepsBetweenLooks, &Connection::on_progress,
                           connection.get());
  return connection;
}

SqliteResult<Run> Connection::prepared(const std::string& sql) {
  auto known = statements_.find(sql);
  if (known == statements_.end()) {
    auto statement = connection_.prepare(sql);
    if (!statement) {
      return tl::unexpected(std::move(statement.error()));
    }
    known = statements_.emplace(sql, *std::move(statement)).first;
  }
  return Run(known->second);
}

SqliteResult<void> Connection::run(const std::string& sql) { return connection_.run(sql); }

SqliteResult<void> Connection::open_answers(const base::Clock& clock) {
  if (answers_) {
    return {};
  }
  if (auto made = run(base::AnswerTable::sql_to_make(kAnswersTable)); !made) {
    return made;
  }
  auto table = base::AnswerTable::prepare(connection_, kAnswersTable, kMaxKeptAnswers, clock);
  if (!table) {
    return tl::unexpected(std::move(table.error()));
  }
  answers_.emplace(std::move(*table));
  return {};
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(get()) == 0; }

int Connection::authorize(void* self, int action, const char* first, const char* second,
                          const char* /*schema*/, const char* /*trigger*/) {
  const auto& connection = *static_cast<const Connection*>(self);
  if (!connection.guarded_) {
    return SQLITE_OK;
  }
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return sqlite3_stricmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
      if (is_schema_table(first)) {
        return SQLITE_DENY;
      }
      [[fallthrough]];
    case SQLITE_READ:
      return is_ours(first, connection.marks_) ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

int Connection::on_progress(void* self) {
  const auto& connection = *static_cast<const Connection*>(self);
  if (connection.deadline_ == base::MonotonicTime::max()) {
    return 0;
  }
  return base::SteadyClock().now() > connection.deadline_ ? 1 : 0;
}

Connection::Guard::Guard(Connection& connection, base::Milliseconds limit)
    : connection_(connection) {
  connection_.guarded_ = true;
  connection_.deadline_ = base::SteadyClock().now() + limit;
}

Connection::Guard::~Guard() {
  connection_.guarded_ = false;
  connection_.deadline_ = base::MonotonicTime::max();
}

std::string quoted_name(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    text.append(c == '"' ? 2 : 1, c);
  }
  text.push_back('"');
  return text;
}

}  // namespace fenceline::backends::sqlite
