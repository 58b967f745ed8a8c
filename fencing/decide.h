#pragma once

#include <cstdint>
#include <string_view>

#include "base/token.h"
#include "fencing/mark.h"

namespace fenceline::fencing {

/// What a presented token means against a mark.
enum class Verdict : std::uint8_t {
  kCurrent,         ///< `token == mark`: go on.
  kRaises,          ///< Above the mark, or binds the first holder to it: raise the mark durably.
  kStale,           ///< `token < mark`: fenced.
  kHolderConflict,  ///< `token == mark`, but another holder is bound to it.
  kTooFarAhead,     ///< More than `max_jump` above the mark.
};

/// A request's claim on one key.
struct Claim {
  base::Token token;        ///< Must exist.
  std::string_view holder;  ///< Empty if the request names none.
  /// How far above the mark a token may be; 0 for any distance. The first token of a key that was
  /// never fenced may be any.
  std::int64_t max_jump = 0;
};

/// The one rule of admission (design, 3). Pure.
Verdict decide(const Mark& mark, const Claim& claim);

/// The one rule of entering: who may commit now, given what is announced, durable and inside. Pure.
enum class Entry : std::uint8_t {
  kFenced,     ///< Somebody newer came while this request staged.
  kWait,       ///< The raise is not durable yet, or an older commit is still inside.
  kUnsettled,  ///< An older commit is in doubt: waiting does not help.
  kEnter,
};

/// The facts about one key that `decide_entry` looks at.
struct EntryFacts {
  base::Token announced;         ///< Highest token admitted.
  bool durable = false;          ///< The announced mark is known to be durable.
  base::Token lowest_inside;     ///< Lowest token that is committing; no token if nobody is.
  base::Token lowest_unsettled;  ///< Lowest token in doubt; no token if there is none.
};

/// Re-check and drain in one step: called under the key's mutex for *every* request, not only for
/// the one that raised the mark (model d1, mutants NO_RECHECK, NO_DRAIN, RAISER_ONLY, MEM_FIRST).
Entry decide_entry(const EntryFacts& facts, base::Token token);

}  // namespace fenceline::fencing
