#pragma once

#include <memory>
#include <optional>
#include <string>

#include "backends/backend.h"
#include "base/async.h"
#include "base/error.h"
#include "base/http.h"
#include "fencing/answer_store.h"
#include "proxy/exchange.h"
#include "proxy/running_keys.h"

namespace fenceline::proxy {

/// Makes a write with an `Idempotency-Key` take effect once, however often it is sent
/// (docs/api.md). One for a process, so that requests under an old and a new configuration meet.
/// Thread-safe.
class Repeats {
 public:
  /// `answers` keeps those of the stores that cannot; it outlives this.
  explicit Repeats(fencing::AnswerStore& answers) : answers_(answers) {}

  /// Before the body is read. Success: the right to go on with this key, or nothing for a request
  /// without one. Failure: `kIdempotencyRunning` while another request with the key is under way,
  /// and (`applied` is `kUnknown`) after `keep_claim` for it.
  base::Result<std::optional<RunningKeys::Run>> begin(const Exchange& exchange);

  /// Commits a staged write, or gives the answer that is kept for its key.
  /// Does: called where the pipeline would call `StagedWrite::commit`, with the permit held and the
  /// body read to its end, so a stale token never gets here. A store that keeps answers does all of
  /// it in its transaction. Else the key is claimed durably before the effect, and the answer kept
  /// after it; a claim without an answer is settled by the stamp of the resource.
  /// Success: the answer of the effect, now or then. Failure: as `StagedWrite::commit`, and
  /// `kIdempotencyReused`; `kIdempotencyRunning` (`applied` is `kUnknown`) if nobody can tell
  /// whether an earlier request with the key took effect; `kLedgerUnavailable`, `kOverloaded`:
  /// nothing was done.
  base::Awaitable<base::Result<base::Reply>> commit(Exchange& exchange,
                                                    backends::StagedWrite& staged);

  /// Keeps the key of a write whose `stage` failed with an unknown outcome. Nothing without a key.
  /// Does: claims it, without a print, since the body was not read to its end; and in this process
  /// refuses it at `begin`. A claim or an answer that is there stays. What goes wrong is logged.
  base::Awaitable<void> keep_claim(Exchange& exchange);

 private:
  base::Awaitable<void> claim_unread(Exchange& exchange);
  base::Awaitable<base::Result<base::Reply>> commit_beside(Exchange& exchange,
                                                           backends::StagedWrite& staged);
  base::Awaitable<base::Result<base::Reply>> settle_claim(Exchange& exchange,
                                                          backends::StagedWrite& staged,
                                                          base::KeptRow claim,
                                                          backends::LastWrite now);
  base::Awaitable<base::Result<base::Reply>> commit_and_keep(Exchange& exchange,
                                                             backends::StagedWrite& staged);
  base::Awaitable<void> keep_answer(Exchange& exchange, const base::Reply& reply);
  base::Awaitable<void> forget(Exchange& exchange, std::string claimed_by);

  fencing::AnswerStore& answers_;
  RunningKeys running_;
  DoubtfulKeys doubtful_;
};

}  // namespace fenceline::proxy
