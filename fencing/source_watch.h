#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/token.h"

namespace fenceline::fencing {

/// Why the source of a key's tokens is taken to have started again from below.
struct Suspicion {
  base::Token mark;         ///< The mark they were refused for.
  base::Token presented;    ///< The last and highest token of the rising sequence.
  std::size_t rising = 0;   ///< How many tokens the sequence has.
  std::size_t holders = 0;  ///< Different holders that presented refused tokens; 0: none named.
};

/// A stale token that was refused.
struct Refusal {
  base::Token presented;
  base::Token mark;
  std::string_view holder;  ///< Empty if the request named none.
};

struct SourceWatchOptions {
  /// Length of a rising sequence that is suspicious. Old holders that all come back would have to
  /// do so in the order of their leases to look like it.
  std::size_t rising = 4;
  std::size_t kept_tokens = 16;        ///< Different refused tokens kept for a key.
  std::size_t kept_keys = 1024;        ///< Beyond, the key with the oldest refusal is forgotten.
  base::Milliseconds window{3600000};  ///< A token counts for so long after it was first refused.
  base::Milliseconds repeat{600000};   ///< A suspicion that goes on is told again after this.
};

/// Notices a token source that was reset (design, 7): a zombie presents one old token again and
/// again; a source that counts from below again gives each new holder a higher one, and nobody
/// holds the mark any more. So a key is suspicious when different stale tokens were refused in
/// rising order, while no request with the current token got through and the mark did not move.
///
/// It only tells people: it decides about no request. Memory is bounded. Thread-safe.
class SourceWatch {
 public:
  explicit SourceWatch(SourceWatchOptions options) : options_(options) {}

  /// A stale token of `key` was refused.
  /// Gives the suspicion if it is time to tell somebody: it has just come up, or goes on for
  /// longer than `repeat`.
  std::optional<Suspicion> refused(const std::string& key, const Refusal& refusal,
                                   base::MonotonicTime now);

  /// A request with the current token of `key` got through, so the source is well. Costs two loads
  /// while no token of a key like this is refused.
  void passed(const std::string& key);

  /// The suspicion that there is for `key`, whose mark is `mark` now.
  std::optional<Suspicion> suspicion(const std::string& key, base::Token mark,
                                     base::MonotonicTime now);

 private:
  struct Seen {
    base::Token token;
    base::MonotonicTime first;
    std::string holder;
  };
  struct Record {
    std::string key;
    base::Token mark;
    std::deque<Seen> seen;  ///< Different tokens, in the order of their first refusal.
    std::optional<base::MonotonicTime> told;
  };
  using Records = std::list<Record>;  ///< The longest without a refusal first.

  static constexpr std::size_t kSlots = 256;
  static std::size_t slot_of(const std::string& key);

  Record& record_of(const std::string& key);
  void forget(Records::iterator record);
  void drop_old(Record& record, base::MonotonicTime now) const;
  [[nodiscard]] std::optional<Suspicion> judge(const Record& record) const;

  const SourceWatchOptions options_;
  /// Records by hash of their keys, so that `passed` seldom takes the mutex.
  std::array<std::atomic<std::uint32_t>, kSlots> slots_{};
  std::atomic<std::size_t> watched_ = 0;
  std::mutex mutex_;
  Records records_;
  std::unordered_map<std::string, Records::iterator> by_key_;
};

/// A longest strictly rising subsequence: its length and its last token; of several, the one that
/// ends lowest. Pure.
struct Rise {
  std::size_t length = 0;
  base::Token last;
};
Rise longest_rise(std::span<const base::Token> tokens);

}  // namespace fenceline::fencing
