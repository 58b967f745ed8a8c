#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fenceline::testing {

/// What one client asked for and what it was told, on one resource under one fence key.
struct Operation {
  enum class Kind : std::uint8_t { kWrite, kDelete, kRead };
  enum class Outcome : std::uint8_t {
    kDone,        ///< Answered with success: a write took effect, a read saw `value`.
    kFenced,      ///< Refused as stale: no effect.
    kNotApplied,  ///< Refused for another reason: no effect.
    kUnknown,     ///< No answer: it may have taken effect between `start` and `end`, or never.
  };

  Kind kind = Kind::kRead;
  std::string key;         ///< The fence key.
  std::string resource;    ///< Belongs to one key.
  std::int64_t token = 0;  ///< 0: none; only for reads.
  /// Identifies the content: written by a write, different for each and never 0; seen by a read,
  /// where 0 is "there is nothing".
  std::int64_t value = 0;
  /// One clock for all operations of a history, no value twice: `start` was taken before the
  /// request was sent, `end` after the answer was read, or, without one, when the server that could
  /// have applied it was gone.
  std::int64_t start = 0;
  std::int64_t end = 0;
  Outcome outcome = Outcome::kDone;
};

/// One line that says all of it.
std::string text_of(const Operation& operation);

/// Judges a history of keys and resources that nothing was written to before.
/// Does: looks for what the promises of fenceline forbid (design section 1), given that effects
/// under one key happen in the order of their tokens:
///
/// - an accepted token that is lower than one accepted before it was sent;
/// - a read that saw what nobody wrote, what was refused, what was not yet sent, or what must have
///   been replaced by then: an acknowledged write was lost, or a stale one took effect (S1, S3);
/// - a write seen after a read with a higher token had not seen it (S4);
/// - a read with a token that saw the write of a higher one;
/// - a refusal as stale while no higher token was there.
///
/// Returns one sentence for each violation; none if the history is allowed. Pure.
std::vector<std::string> violations_of(const std::vector<Operation>& history);

}  // namespace fenceline::testing
