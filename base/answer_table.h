#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/once.h"
#include "base/sqlite_connection.h"

namespace fenceline::base {

/// What is kept for one key.
struct KeptRow {
  std::string print;
  /// The request that has the key, while it has no answer: it runs, or its process has ended in the
  /// middle. Empty: there is an answer.
  std::string claimed_by;
  std::string before;  ///< The request that had written the resource last when it was claimed.
  KeptAnswer answer;
};

/// A table of kept answers in a database, as prepared statements. In the transaction that is open;
/// after a failure the caller rolls back, and whatever was done is undone with it. The connection
/// must outlive it; one thread at a time.
///
/// Rows leave when they are due, a hundred at a time, whenever something is kept. Time is counted
/// in minutes in which this process and its predecessors ran: no wall clock can make them leave
/// early, and a stopped server forgets nothing.
class AnswerTable {
 public:
  /// The SQL that makes the table and its index; for who makes it in a transaction of his own.
  static std::string sql_to_make(std::string_view table);

  /// Prepares the statements. `max_rows`: one more is refused. Failure: SQLITE_ERROR if the table
  /// is not there or has another shape.
  static SqliteResult<AnswerTable> prepare(SqliteConnection& connection, std::string_view table,
                                           std::size_t max_rows, const Clock& clock);

  /// Looks a key up; nothing if nothing is kept.
  SqliteResult<std::optional<KeptRow>> find(std::string_view key);

  /// Whether there is room for one more row, when what is due has left.
  SqliteResult<bool> has_room();

  /// Keeps a claim, which must not be there.
  SqliteResult<void> claim(const Once& once, std::string_view request_id, std::string_view before);

  /// Keeps an answer, in place of the claim if there is one.
  SqliteResult<void> keep(const Once& once, const KeptAnswer& answer);

  /// Forgets a claim of `claimed_by`; nothing if that is not what is kept.
  SqliteResult<void> drop(std::string_view key, std::string_view claimed_by);

 private:
  /// The row of its own that the table keeps about itself.
  struct State {
    std::int64_t minute = 0;
    std::int64_t rows = 0;
  };

  explicit AnswerTable(const Clock& clock) : clock_(&clock), ticked_(clock.now()) {}

  SqliteResult<State> state();
  SqliteResult<void> store(const State& state);
  /// Counts the minutes that have passed, and drops what is due.
  SqliteResult<State> pass_time();
  SqliteResult<void> run(SqliteStatement& statement);

  const Clock* clock_;
  MonotonicTime ticked_;  ///< Up to here time has been counted.
  std::size_t max_rows_ = 0;
  sqlite3* database_ = nullptr;
  SqliteStatement find_;
  SqliteStatement claim_;
  SqliteStatement keep_;
  SqliteStatement drop_;
  SqliteStatement state_;
  SqliteStatement store_;
  SqliteStatement sweep_;
};

/// The fields of an answer as one text, and back. Pure.
std::string text_of_fields(const std::vector<OwnedField>& fields);
std::vector<OwnedField> fields_of_text(std::string_view text);

}  // namespace fenceline::base
