#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/answer_table.h"
#include "base/error.h"
#include "fencing/intent_table.h"
#include "fencing/lease_table.h"
#include "fencing/ledger_file.h"
#include "fencing/ledger_queue.h"
#include "fencing/mark_table.h"
#include "fencing/reset_table.h"
#include "fencing/sqlite_ledger.h"

namespace fenceline::fencing {

/// Serves the queue of a ledger on the ledger's thread: reads at once, raises, intents and leases
/// in groups of one commit each, checkpoints between groups. It decides what a failure means.
class LedgerWriter {
 public:
  /// Prepares the statements on `file`. `options` without the path are used.
  static base::Result<std::unique_ptr<LedgerWriter>> make(LedgerFile file,
                                                          SqliteLedgerOptions options);
  ~LedgerWriter();
  LedgerWriter(const LedgerWriter&) = delete;
  LedgerWriter& operator=(const LedgerWriter&) = delete;

  /// Serves until the queue is closed; answers what was left with `kShuttingDown`. Callbacks are
  /// called on this thread without a lock. Call once, from one thread.
  void serve(LedgerQueue& queue);

 private:
  /// The statements of everything that the file holds.
  struct Tables {
    MarkTable marks;
    ResetTable resets;
    IntentTable intents;
    LeaseTable leases;
    base::AnswerTable answers;
  };

  LedgerWriter(LedgerFile file, Tables tables, SqliteLedgerOptions options);

  void serve_reads(LedgerBatch& batch);
  /// Raises, and changes of intents and leases, in one transaction.
  void serve_group(LedgerBatch& batch);
  SqliteResult<bool> store_group(const LedgerBatch& batch);
  SqliteResult<bool> store_in_transaction(const LedgerBatch& batch);
  // Whether it changed anything; the answers are kept.
  SqliteResult<bool> store_raises(const std::vector<RaiseRequest>& raises);
  SqliteResult<bool> store_intents(const std::vector<IntentRequest>& intents);
  SqliteResult<bool> store_leases(const std::vector<LeaseRequest>& leases);
  SqliteResult<bool> store_answers(const std::vector<AnswerRequest>& requests);

  /// Each in a transaction of its own: they are rare, and one that fails fails alone.
  void serve_resets(std::vector<ResetRequest>& resets);
  SqliteResult<ResetOutcome> store_reset(const ResetRequest& request);
  SqliteResult<ResetOutcome> reset_in_transaction(const ResetRequest& request);

  /// Rolls back after `failure`, and gives the failure that counts.
  SqliteFailure roll_back_after(SqliteFailure failure);

  void checkpoint();

  /// The file still has its name: a mark in a deleted file would not survive a restart.
  SqliteResult<void> check_in_place();

  /// Reports a failure and, if the file cannot be trusted any more, refuses all that follows.
  base::Error note(const SqliteFailure& failure, const char* doing);
  void note_success() { reported_ = false; }

  /// Called by SQLite after each commit.
  static int on_wal_commit(void* self, sqlite3*, const char*, int pages);

  LedgerFile file_;
  Tables tables_;
  SqliteLedgerOptions options_;
  std::vector<Mark> answers_;
  std::vector<base::Result<base::Token>> lease_answers_;
  std::vector<AnswerRequest::Answer> kept_answers_;
  std::optional<base::Error> failed_;  ///< Set: everything is refused with it.
  bool reported_ = false;              ///< The failure that goes on has been reported.
  int wal_pages_ = 0;                  ///< Length of the log after the last commit.
  int checkpoint_at_pages_;
  bool checkpoint_wanted_ = false;  ///< Something was committed since the last checkpoint.
};

}  // namespace fenceline::fencing
