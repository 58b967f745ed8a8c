#pragma once

// What goes through the writing connection.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "backends/sqlite/connection.h"
#include "backends/sqlite/marks.h"
#include "backends/sqlite/trouble.h"
#include "base/async.h"
#include "base/error.h"
#include "base/http.h"
#include "base/once.h"
#include "base/stamp.h"

namespace fenceline::backends::sqlite {

/// One write, which owns all that it needs. Used by one thread at a time.
class WriteJob {
 public:
  WriteJob() = default;
  WriteJob(const WriteJob&) = delete;
  WriteJob& operator=(const WriteJob&) = delete;
  virtual ~WriteJob() = default;

  /// Does its work in the transaction that is open; called again after that was rolled back.
  /// Success: to be committed; a refusal of its own is one too, if it left nothing behind.
  /// Failure: nothing more can be done in this transaction.
  virtual SqliteResult<void> apply(Connection& writer) = 0;

  /// Answers, after the commit.
  virtual void committed() = 0;

  /// Answers. `may_last`: the commit failed such that what `apply` did may come back.
  virtual void failed(base::Error error, bool may_last) = 0;

  /// What it holds in memory, about.
  [[nodiscard]] virtual std::size_t bytes() const { return 0; }
};

/// A write that is fenced in its own transaction (model, rule of the store with marks): the mark,
/// then the conditions, then the effect. The raised mark stays when the effect is refused: the
/// holder of a newer lease has spoken.
class FencedJob : public WriteJob {
 public:
  /// `stamp` without a key or without a token: no mark is looked at. `marks` and `database` are
  /// those of the database that runs it, and live as long.
  FencedJob(const Marks& marks, const DatabaseName& database, base::Stamp stamp)
      : stamp_(std::move(stamp)), marks_(marks), database_(database) {}

  /// Before it is handed over: takes effect once for all jobs with the same key.
  void be_once(base::Once once) { once_ = std::move(once); }

  /// Before it is handed over.
  void answer_to(base::Done<base::Result<base::Reply>> done) { done_ = std::move(done); }

  SqliteResult<void> apply(Connection& writer) final;
  void committed() final;
  void failed(base::Error error, bool may_last) final;

 protected:
  /// The effect, in a savepoint of its own that is rolled back unless it gives a reply.
  /// Failure (outer): of SQLite. Failure (inner): a refusal, such as a failed condition.
  virtual SqliteResult<base::Result<base::Reply>> effect(Connection& writer) = 0;

  /// "write "a" into".
  [[nodiscard]] virtual std::string doing() const = 0;

  const base::Stamp stamp_;

 private:
  SqliteResult<base::Result<base::Reply>> guarded_effect(Connection& writer);
  /// Whether it has been answered by what is kept, or refused.
  SqliteResult<bool> recall(base::AnswerTable& answers);
  /// Keeps the answer of the effect; what cannot be kept becomes a refusal.
  SqliteResult<void> keep(base::AnswerTable& answers, base::Result<base::Reply>& outcome);

  const Marks& marks_;
  const DatabaseName& database_;
  std::optional<base::Once> once_;
  base::Done<base::Result<base::Reply>> done_;
  base::Result<base::Reply> answer_ = base::fail(base::ErrorKind::kInternal, "never applied");
};

/// Raises a mark and does nothing else: a fenced read whose token is above it.
class RaiseJob final : public FencedJob {
 public:
  using FencedJob::FencedJob;

 protected:
  SqliteResult<base::Result<base::Reply>> effect(Connection& /*writer*/) override {
    return base::Result<base::Reply>();
  }
  [[nodiscard]] std::string doing() const override { return "raise the mark in"; }
};

/// Sets a mark, also downwards.
class ResetJob final : public WriteJob {
 public:
  ResetJob(const Marks& marks, std::string key, base::Token to, base::Done<base::Result<void>> done)
      : marks_(marks), key_(std::move(key)), to_(to), done_(std::move(done)) {}

  SqliteResult<void> apply(Connection& writer) override { return marks_.set(writer, key_, to_); }
  void committed() override { done_({}); }
  void failed(base::Error error, bool may_last) override;

 private:
  const Marks& marks_;
  const std::string key_;
  const base::Token to_;
  base::Done<base::Result<void>> done_;
};

}  // namespace fenceline::backends::sqlite
