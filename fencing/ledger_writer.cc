#include "fencing/ledger_writer.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "fencing/answer_requests.h"
#include "fencing/ledger_format.h"

namespace fenceline::fencing {
namespace {

// 16 MiB of log between checkpoints: about 4,000 small commits share the two fsyncs of one.
constexpr int kCheckpointPages = 4096;

// For how long answers are kept; that is no decision that a test of the ledger has to see.
const base::SteadyClock kClock;

// A quiet ledger is copied together, so that a restart has little to read.
constexpr std::chrono::milliseconds kIdleBeforeCheckpoint{1000};

template <typename Request>
void refuse(std::vector<Request>& requests, const base::Error& error) {
  for (Request& request : requests) {
    request.done(tl::unexpected(error));
  }
}

std::string_view advice(const SqliteFailure& failure) {
  if (failure.code == SQLITE_READONLY_DBMOVED) {
    return "everything is refused until restart: restore the ledger file first, then restart; a "
           "restart without it would have no marks";
  }
  return aftermath_of(failure) == Aftermath::kUnknown
             ? "everything is refused until restart: check the disk, then restart"
             : "the requests were refused; later ones are tried again";
}

}  // namespace

base::Result<std::unique_ptr<LedgerWriter>> LedgerWriter::make(LedgerFile file,
                                                               SqliteLedgerOptions options) {
  auto marks = MarkTable::prepare(file.connection);
  if (!marks) {
    return tl::unexpected(cannot_open(file.path, marks.error()));
  }
  auto resets = ResetTable::prepare(file.connection);
  if (!resets) {
    return tl::unexpected(cannot_open(file.path, resets.error()));
  }
  auto intents = IntentTable::prepare(file.connection);
  if (!intents) {
    return tl::unexpected(cannot_open(file.path, intents.error()));
  }
  auto answers = base::AnswerTable::prepare(file.connection, "answers", kMaxKeptAnswers, kClock);
  if (!answers) {
    return tl::unexpected(cannot_open(file.path, answers.error()));
  }
  auto leases = LeaseTable::prepare(file.connection);
  if (!leases) {
    return tl::unexpected(cannot_open(file.path, leases.error()));
  }
  Tables tables{std::move(*marks), std::move(*resets), std::move(*intents), std::move(*leases),
                std::move(*answers)};
  return std::unique_ptr<LedgerWriter>(
      new LedgerWriter(std::move(file), std::move(tables), std::move(options)));
}

LedgerWriter::LedgerWriter(LedgerFile file, Tables tables, SqliteLedgerOptions options)
    : file_(std::move(file)),
      tables_(std::move(tables)),
      options_(std::move(options)),
      checkpoint_at_pages_(kCheckpointPages) {
  sqlite3_wal_hook(file_.connection.get(), &LedgerWriter::on_wal_commit, this);
}

LedgerWriter::~LedgerWriter() {
  // A file that cannot be trusted is left exactly as it is for the restart to read.
  if (failed_) {
    sqlite3_db_config(file_.connection.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
}

int LedgerWriter::on_wal_commit(void* self, sqlite3* /*database*/, const char* /*schema*/,
                                int pages) {
  auto* const writer = static_cast<LedgerWriter*>(self);
  writer->wal_pages_ = pages;
  writer->checkpoint_wanted_ = true;
  return SQLITE_OK;
}

void LedgerWriter::serve(LedgerQueue& queue) {
  LedgerBatch batch;
  while (true) {
    const auto idle_after =
        checkpoint_wanted_ ? std::optional(kIdleBeforeCheckpoint) : std::nullopt;
    switch (queue.take(batch, options_.max_group, idle_after)) {
      case LedgerQueue::Wake::kIdle:
        checkpoint();
        break;
      case LedgerQueue::Wake::kWork:
        serve_reads(batch);
        serve_group(batch);
        serve_resets(batch.resets);
        batch.clear();
        if (wal_pages_ >= checkpoint_at_pages_) {
          checkpoint();
        }
        break;
      case LedgerQueue::Wake::kClosed: {
        const base::Error closing{base::ErrorKind::kShuttingDown,
                                  "The server is stopping. Send the request again later.",
                                  base::Applied::kNo};
        refuse(batch.finds, closing);
        refuse(batch.scans, closing);
        refuse(batch.raises, closing);
        refuse(batch.reset_lists, closing);
        refuse(batch.resets, closing);
        refuse(batch.intent_lists, closing);
        refuse(batch.intents, closing);
        refuse(batch.lease_lists, closing);
        refuse(batch.leases, closing);
        refuse(batch.answers, closing);
        return;
      }
    }
  }
}

void LedgerWriter::serve_reads(LedgerBatch& batch) {
  const auto answer = [this](auto& request, auto read) {
    if (failed_) {
      request.done(tl::unexpected(*failed_));
      return;
    }
    auto result = read();
    if (!result) {
      request.done(tl::unexpected(note(result.error(), "read")));
      return;
    }
    request.done(std::move(*result));
  };
  for (FindRequest& request : batch.finds) {
    answer(request, [&] { return tables_.marks.find(request.key); });
  }
  for (ScanRequest& request : batch.scans) {
    answer(request, [&] { return tables_.marks.scan(request.range, request.limit); });
  }
  for (ResetsRequest& request : batch.reset_lists) {
    answer(request, [&] { return tables_.resets.latest(request.key, request.limit); });
  }
  for (IntentsRequest& request : batch.intent_lists) {
    answer(request, [&] { return tables_.intents.all(); });
  }
  for (LeasesRequest& request : batch.lease_lists) {
    answer(request, [&] { return tables_.leases.all(); });
  }
}

void LedgerWriter::serve_group(LedgerBatch& batch) {
  std::vector<RaiseRequest>& raises = batch.raises;
  std::vector<IntentRequest>& intents = batch.intents;
  std::vector<LeaseRequest>& leases = batch.leases;
  std::vector<AnswerRequest>& answers = batch.answers;
  if (raises.empty() && intents.empty() && leases.empty() && answers.empty()) {
    return;
  }
  const auto refuse_all = [&](const base::Error& error) {
    refuse(raises, error);
    refuse(intents, error);
    refuse(leases, error);
    refuse(answers, error);
  };
  if (failed_) {
    refuse_all(*failed_);
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto changed = store_group(batch);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!changed) {
    refuse_all(note(changed.error(), "write"));
    return;
  }
  note_success();
  if (*changed && options_.on_commit) {
    options_.on_commit(LedgerCommit{raises.size(), intents.size(), leases.size(), took.count()});
  }
  for (std::size_t i = 0; i < raises.size(); ++i) {
    raises[i].done(std::move(answers_[i]));
  }
  for (IntentRequest& request : intents) {
    request.done({});
  }
  for (std::size_t i = 0; i < leases.size(); ++i) {
    leases[i].done(std::move(lease_answers_[i]));
  }
  for (std::size_t i = 0; i < answers.size(); ++i) {
    answers[i].done(std::move(kept_answers_[i]));
  }
}

SqliteResult<bool> LedgerWriter::store_group(const LedgerBatch& batch) {
  if (const auto in_place = check_in_place(); !in_place) {
    return tl::unexpected(in_place.error());
  }
  auto changed = store_in_transaction(batch);
  if (!changed) {
    return tl::unexpected(roll_back_after(std::move(changed.error())));
  }
  return changed;
}

SqliteFailure LedgerWriter::roll_back_after(SqliteFailure failure) {
  if (const auto undone = tables_.marks.roll_back(); !undone) {
    // With the transaction still open nothing is known: the worse failure is the one that counts.
    return SqliteFailure{SQLITE_ABORT_ROLLBACK, 0, undone.error().text};
  }
  return failure;
}

SqliteResult<bool> LedgerWriter::store_in_transaction(const LedgerBatch& batch) {
  if (const auto begun = tables_.marks.begin(); !begun) {
    return tl::unexpected(begun.error());
  }
  const auto raised = store_raises(batch.raises);
  if (!raised) {
    return raised;
  }
  const auto recorded = store_intents(batch.intents);
  if (!recorded) {
    return recorded;
  }
  const auto leased = store_leases(batch.leases);
  if (!leased) {
    return leased;
  }
  const auto kept = store_answers(batch.answers);
  if (!kept) {
    return kept;
  }
  // Without a change this writes nothing; every answer is a mark of an earlier commit.
  if (const auto committed = tables_.marks.commit(); !committed) {
    return tl::unexpected(committed.error());
  }
  return *raised || *recorded || *leased || *kept;
}

SqliteResult<bool> LedgerWriter::store_raises(const std::vector<RaiseRequest>& raises) {
  bool changed = false;
  answers_.clear();
  for (const RaiseRequest& raise : raises) {
    // Sees what earlier raises of this group stored, so raises of one key are merged here.
    const auto stored = tables_.marks.find(raise.key);
    if (!stored) {
      return tl::unexpected(stored.error());
    }
    Mark after = merged(*stored, raise.offered);
    if (after != *stored) {
      changed = true;
      if (const auto written = tables_.marks.store(raise.key, after); !written) {
        return tl::unexpected(written.error());
      }
    }
    answers_.push_back(std::move(after));
  }
  return changed;
}

SqliteResult<bool> LedgerWriter::store_answers(const std::vector<AnswerRequest>& requests) {
  kept_answers_.clear();
  for (const AnswerRequest& request : requests) {
    auto stored = apply(tables_.answers, request);
    if (!stored) {
      return tl::unexpected(std::move(stored.error()));
    }
    kept_answers_.push_back(std::move(*stored));
  }
  return !requests.empty();
}

SqliteResult<bool> LedgerWriter::store_intents(const std::vector<IntentRequest>& intents) {
  bool changed = false;
  for (const IntentRequest& request : intents) {
    const auto applied = tables_.intents.apply(request.put, request.drop);
    if (!applied) {
      return applied;
    }
    changed = changed || *applied;
  }
  return changed;
}

SqliteResult<bool> LedgerWriter::store_leases(const std::vector<LeaseRequest>& leases) {
  bool changed = false;
  lease_answers_.clear();
  for (const LeaseRequest& request : leases) {
    auto applied = tables_.leases.apply(request.change, tables_.marks);
    if (!applied) {
      return tl::unexpected(std::move(applied.error()));
    }
    changed = changed || applied->changed;
    lease_answers_.push_back(std::move(applied->answer));
  }
  return changed;
}

void LedgerWriter::serve_resets(std::vector<ResetRequest>& resets) {
  for (ResetRequest& request : resets) {
    if (failed_) {
      request.done(tl::unexpected(*failed_));
      continue;
    }
    auto outcome = store_reset(request);
    if (!outcome) {
      base::Error error = note(outcome.error(), "write");
      // What a commit that failed has left in the file is known only after the restart.
      error.applied = failed_ ? base::Applied::kUnknown : base::Applied::kNo;
      request.done(tl::unexpected(std::move(error)));
      continue;
    }
    note_success();
    request.done(std::move(*outcome));
  }
}

SqliteResult<ResetOutcome> LedgerWriter::store_reset(const ResetRequest& request) {
  if (const auto in_place = check_in_place(); !in_place) {
    return tl::unexpected(in_place.error());
  }
  auto outcome = reset_in_transaction(request);
  if (!outcome) {
    return tl::unexpected(roll_back_after(std::move(outcome.error())));
  }
  return outcome;
}

SqliteResult<ResetOutcome> LedgerWriter::reset_in_transaction(const ResetRequest& request) {
  if (const auto begun = tables_.marks.begin(); !begun) {
    return tl::unexpected(begun.error());
  }
  const auto stored = tables_.marks.find(request.key);
  if (!stored) {
    return tl::unexpected(stored.error());
  }
  ResetOutcome outcome = reset_mark(*stored, request.order);
  if (outcome.verdict == ResetVerdict::kApplies) {
    if (const auto written = tables_.marks.store(request.key, outcome.after); !written) {
      return tl::unexpected(written.error());
    }
    const ResetRecord record = record_of(outcome, request.order);
    if (const auto added = tables_.resets.add(request.key, record); !added) {
      return tl::unexpected(added.error());
    }
  }
  if (const auto committed = tables_.marks.commit(); !committed) {
    return tl::unexpected(committed.error());
  }
  return outcome;
}

SqliteResult<void> LedgerWriter::check_in_place() {
  int moved = 0;
  const int code =
      sqlite3_file_control(file_.connection.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (code == SQLITE_OK && moved == 0) {
    return {};
  }
  return tl::unexpected(
      SqliteFailure{SQLITE_READONLY_DBMOVED, 0, "the file has been moved, replaced or deleted"});
}

void LedgerWriter::checkpoint() {
  if (failed_) {
    return;
  }
  checkpoint_wanted_ = false;
  const auto copied = file_.connection.checkpoint(SQLITE_CHECKPOINT_PASSIVE);
  if (copied) {
    // The next commit starts the log again from its beginning.
    wal_pages_ = 0;
    checkpoint_at_pages_ = kCheckpointPages;
    return;
  }
  // Marks stay in the log, where they are durable. Try again when there is much more of it.
  checkpoint_at_pages_ = wal_pages_ + kCheckpointPages;
  note(copied.error(), "copy the log of");
}

base::Error LedgerWriter::note(const SqliteFailure& failure, const char* doing) {
  const bool for_good = aftermath_of(failure) == Aftermath::kUnknown;
  base::Error error{base::ErrorKind::kLedgerUnavailable, {}, base::Applied::kNo};
  // The path and the reason are for the operator, not for a client.
  error.detail = for_good ? "The ledger of fencing tokens has failed and refuses everything until "
                            "the server has been restarted. Tell its operator."
                          : "The ledger of fencing tokens cannot be used at the moment. Send the "
                            "request again later.";
  if (for_good) {
    failed_ = error;
  }
  if (options_.on_failure && (for_good || !reported_)) {
    options_.on_failure(LedgerFailure{fmt::format("cannot {} the ledger {}: {}; {}", doing,
                                                  file_.path, failure.text, advice(failure)),
                                      for_good});
  }
  reported_ = true;
  return error;
}

}  // namespace fenceline::fencing
