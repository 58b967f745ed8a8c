#pragma once

// One connection of ours to an application's database: SQL is prepared once, a named statement can
// do only what it may, and nothing runs for ever.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/answer_table.h"
#include "base/clock.h"
#include "base/sqlite_connection.h"

namespace fenceline::backends::sqlite {

using base::SqliteFailure;
using base::SqliteResult;

/// The table of the answers that are kept for idempotency keys.
inline constexpr const char* kAnswersTable = "fenceline_answers";
inline constexpr std::size_t kMaxKeptAnswers = 1'000'000;

/// One run of a prepared statement. Resets it and drops what is bound when it goes.
class Run {
 public:
  explicit Run(base::SqliteStatement& statement) : statement_(&statement) {}
  Run(Run&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Run& operator=(Run&&) = delete;
  ~Run();

  base::SqliteStatement* operator->() { return statement_; }
  base::SqliteStatement& operator*() { return *statement_; }

 private:
  base::SqliteStatement* statement_;
};

/// A connection with its prepared statements. One thread at a time.
class Connection {
 public:
  /// Opens the existing database at the absolute `path`, in our mode: foreign keys are enforced,
  /// the schema is not trusted, no checkpoint by itself, waits for other processes' locks up to
  /// `busy`. The `marks` table is out of reach while a `Guard` is there.
  static SqliteResult<std::unique_ptr<Connection>> open(const std::string& path, std::string marks,
                                                        base::Milliseconds busy);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// The statement for `sql` (the first in it), prepared on the first use and kept.
  SqliteResult<Run> prepared(const std::string& sql);

  /// Runs `sql`, which gives no rows that anybody needs.
  SqliteResult<void> run(const std::string& sql);

  /// Makes the table of kept answers if it is missing, in the transaction that is open, and
  /// prepares its statements. `clock` outlives the connection. Only for the writer; once is enough.
  SqliteResult<void> open_answers(const base::Clock& clock);

  /// The kept answers, after `open_answers`.
  [[nodiscard]] base::AnswerTable& answers() { return *answers_; }

  /// True while a transaction is open: SQLite ends it by itself after some failures.
  [[nodiscard]] bool in_transaction() const;

  [[nodiscard]] base::SqliteConnection& raw() { return connection_; }
  [[nodiscard]] sqlite3* get() const { return connection_.get(); }

  /// While it lives, statements are an operator's: they are prepared and run without access to the
  /// marks, to the kept answers, to the schema and to transactions, and are interrupted `limit`
  /// from now.
  class Guard {
   public:
    Guard(Connection& connection, base::Milliseconds limit);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    Connection& connection_;
  };

 private:
  Connection(base::SqliteConnection connection, std::string marks);

  static int authorize(void* self, int action, const char* first, const char* second,
                       const char* schema, const char* trigger);
  static int on_progress(void* self);

  const std::string marks_;
  base::SqliteConnection connection_;
  std::unordered_map<std::string, base::SqliteStatement> statements_;
  std::optional<base::AnswerTable> answers_;
  bool guarded_ = false;
  base::MonotonicTime deadline_ = base::MonotonicTime::max();
};

/// `name` as an SQL identifier, whatever is in it.
std::string quoted_name(std::string_view name);

}  // namespace fenceline::backends::sqlite
