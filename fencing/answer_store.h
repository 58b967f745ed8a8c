#pragma once

#include <optional>
#include <string>

#include "base/answer_table.h"
#include "base/async.h"
#include "base/error.h"
#include "base/once.h"

namespace fenceline::fencing {

/// The answers of requests with an idempotency key, for stores that cannot keep them in the
/// transaction of the effect. Part of the ledger: it has the only file that is durable beside every
/// store. It decides nothing.
class AnswerStore {
 public:
  AnswerStore() = default;
  AnswerStore(const AnswerStore&) = delete;
  AnswerStore& operator=(const AnswerStore&) = delete;
  virtual ~AnswerStore() = default;

  /// Looks a key up, and claims it if nothing is kept, in one commit.
  /// `request_id` is who claims it, `before` who wrote the resource last.
  /// Success: what was kept; nothing: the claim is durable now. Failure: `kLedgerUnavailable` as
  /// `Ledger::raise`; `kOverloaded`, also if too many answers are kept. Concurrency: as
  /// `Ledger::raise`; calls take effect in their order, together with the others here.
  virtual void recall(base::Once once, std::string request_id, std::string before,
                      base::Done<base::Result<std::optional<base::KeptRow>>> done) = 0;

  /// Keeps an answer, in place of the claim. Success: durable. Failure: as `recall`; the claim is
  /// as it was, or it is not known.
  virtual void keep(base::Once once, base::KeptAnswer answer,
                    base::Done<base::Result<void>> done) = 0;

  /// Forgets a claim of `claimed_by`, whose request has had no effect; nothing if that is not what
  /// is kept. Success, failure: as `keep`.
  virtual void forget(std::string key, std::string claimed_by,
                      base::Done<base::Result<void>> done) = 0;
};

}  // namespace fenceline::fencing
