#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/token.h"
#include "fencing/mark.h"

namespace fenceline::fencing {

/// Longest reason and longest name of who orders a reset, in bytes.
inline constexpr std::size_t kMaxReasonBytes = 1024;
inline constexpr std::size_t kMaxByBytes = 256;

/// An operator's order to set the mark of one key back, because its token source starts again low
/// (design, 7). The only thing that lowers a mark.
struct ResetOrder {
  base::Token to;          ///< The mark afterwards; must exist.
  base::Token from;        ///< What the operator takes the mark for; no token: whatever it is.
  std::string reason;      ///< For the audit, 1 … `kMaxReasonBytes`.
  std::string by;          ///< Who the caller says it is, up to `kMaxByBytes`; may be empty.
  std::string peer;        ///< Where the order came from.
  std::int64_t at_ms = 0;  ///< Wall clock, since 1970; recorded, never decided by.
};

/// What became of an order.
enum class ResetVerdict : std::uint8_t {
  kApplies,      ///< The mark is `to` now, and no holder is bound to it.
  kUnchanged,    ///< It was so already, as after an order that is sent twice.
  kNotLower,     ///< `to` is above the mark: that is a raise.
  kMoved,        ///< The mark is not `from`.
  kNeverFenced,  ///< The key has no mark.
};

/// An order and what it did to the stored mark.
struct ResetOutcome {
  ResetVerdict verdict = ResetVerdict::kNeverFenced;
  Mark before;
  Mark after;  ///< As `before`, unless the verdict is `kApplies`.

  friend bool operator==(const ResetOutcome&, const ResetOutcome&) = default;
};

/// One row of the audit of resets.
struct ResetRecord {
  Mark before;
  base::Token to;
  std::string reason;
  std::string by;
  std::string peer;
  std::int64_t at_ms = 0;

  friend bool operator==(const ResetRecord&, const ResetRecord&) = default;
};

/// The one rule of resets: what `order` makes of a stored mark. Setting a mark to its own token
/// drops the holder bound to it. Every ledger applies it in the transaction that stores the
/// result. Pure.
ResetOutcome reset_mark(const Mark& stored, const ResetOrder& order);

/// The audit's row for an order that applied. Pure.
ResetRecord record_of(const ResetOutcome& outcome, const ResetOrder& order);

/// Whether the texts that an operator gives for the log or the audit may be kept: a reason of 1 …
/// `kMaxReasonBytes`, `by` up to `kMaxByBytes`, UTF-8 without control bytes. Failure:
/// `kMalformedRequest`. Pure.
base::Result<void> check_reason(const std::string& reason, const std::string& by);

/// Whether `order` may be carried out as it is written: it has a token and a reason, and its texts
/// are within their limits, UTF-8 without control bytes. Failure: `kMalformedRequest`. Pure.
base::Result<void> check_order(const ResetOrder& order);

/// The outcome for who asked: as it is when the mark is `to` now. Failure: `kMarkConflict`
/// (`kNotLower`, `kMoved`), `kNotFound` (`kNeverFenced`). Pure.
base::Result<ResetOutcome> answer_of(const ResetOutcome& outcome, const ResetOrder& order);

/// What stands in the way of a reset inside the process.
struct ResetObstacles {
  std::vector<std::pair<base::Token, std::size_t>> inside;  ///< Commits that have entered.
  std::vector<base::Token> unsettled;                       ///< Commits in doubt.
  std::vector<base::Token> on_record;                       ///< Writes that are not settled.
  bool announced_not_durable = false;                       ///< A raise is pending.
  bool ledger_busy = false;                                 ///< A read or reset is under way.
  std::size_t waiting = 0;                                  ///< Requests in `Gate::enter`.
};

/// Whether a reset must be refused now. Nothing if it may go on; else `kFenceBusy` with a sentence
/// that names who is in the way. Pure.
std::optional<base::Error> obstacle_to_reset(const ResetObstacles& found);

}  // namespace fenceline::fencing
