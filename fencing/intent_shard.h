#pragma once

// The intents of some keys in memory: what is on record, who runs, what is in doubt. It calls
// nobody: what is to be done next comes back in an `IntentWork`, to be done without its mutex.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fence_key.h"
#include "fencing/intents.h"
#include "fencing/ledger.h"

namespace fenceline::fencing {

/// Where the ledger stands with one intent. At most one request of it is under way, so the order in
/// which threads come to the ledger does not matter.
enum class OnRecord : std::uint8_t {
  kPutting,   ///< Being put; whoever wants it waits.
  kYes,       ///< Durable.
  kDropping,  ///< Being dropped; whoever wants it waits, and then it is put again.
  kUnsure,    ///< Dropping it failed: to be put again before it is used.
};

class IntentShard;

struct IntentEntry {
  Intent intent;
  std::size_t hash = 0;
  IntentShard* shard = nullptr;
  OnRecord on_record = OnRecord::kPutting;
  bool shared = false;  ///< Stays on record when it is finished.
  bool in_doubt = false;
  bool left_behind = false;  ///< Dropping it failed: a put that fails leaves it as it was.
  std::size_t running = 0;
  base::MonotonicTime since;  ///< In doubt or idle since then.
  std::vector<base::Done<base::Result<RunningIntent>>> waiting;
  std::list<IntentEntry>::iterator place;
  bool idle = false;  ///< Which list `place` is in.
};

/// One request to the ledger. The entries stay where they are until it is answered.
struct IntentChange {
  IntentEntry* put = nullptr;  ///< Null: only drop.
  std::vector<IntentEntry*> drop;
};

/// What is to be done once the mutex is free.
struct IntentWork {
  std::vector<IntentChange> changes;
  /// Who gets a permission to run (the entry counts it already), or the error.
  std::vector<std::pair<base::Done<base::Result<RunningIntent>>, base::Result<IntentEntry*>>>
      answers;
};

/// Thread-safe. `unsettled` counts the entries in doubt of all shards, `entries` all of them.
class IntentShard {
 public:
  IntentShard(std::atomic<std::size_t>& unsettled, std::atomic<std::size_t>& entries)
      : unsettled_(unsettled), entries_(entries) {}

  /// Found on record at the start: in doubt since `now`.
  void recover(Intent intent, std::size_t hash, base::MonotonicTime now);

  /// One more runner of a shared intent that is on record; null if it is not.
  IntentEntry* try_begin(const Intent& intent, std::size_t hash);

  IntentWork begin(Intent intent, std::size_t hash, bool shared,
                   base::Done<base::Result<RunningIntent>> done);

  /// The ledger has answered a change.
  IntentWork answered(const IntentChange& change, const base::Result<void>& result,
                      base::MonotonicTime now);

  /// A runner has come to its end, with a known outcome or without.
  IntentWork end(IntentEntry& entry, bool known, base::MonotonicTime now);

  /// Nothing if the intent is not in doubt.
  std::optional<IntentWork> settle(const Intent& intent, std::size_t hash);

  /// Drops up to `limit` of those that have been idle since `before` or longer.
  IntentWork sweep(base::MonotonicTime before, std::size_t limit);

  /// Those in doubt of `key`, with `below` only lower tokens.
  void collect(const base::FenceKey& key, std::optional<base::Token> below,
               std::vector<UnsettledIntent>& into);
  /// Those in doubt whose key begins with `prefix`, the first `limit` of this shard behind `after`.
  void collect(std::string_view prefix, std::size_t limit, const std::optional<Intent>& after,
               std::vector<UnsettledIntent>& into);

 private:
  struct Wanted {
    const Intent& intent;
    std::size_t hash;
  };
  struct HashOf {
    using is_transparent = void;
    std::size_t operator()(const IntentEntry* entry) const { return entry->hash; }
    std::size_t operator()(const Wanted& wanted) const { return wanted.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const IntentEntry* left, const IntentEntry* right) const {
      return left == right;
    }
    bool operator()(const Wanted& wanted, const IntentEntry* entry) const {
      return wanted.hash == entry->hash && wanted.intent == entry->intent;
    }
    bool operator()(const IntentEntry* entry, const Wanted& wanted) const {
      return (*this)(wanted, entry);
    }
  };
  /// All of a key and a token; without a token, before all of a key.
  struct Place {
    std::string_view key;
    base::Token token;
  };
  static auto tied(const Place& place) { return std::tie(place.key, place.token); }
  static Place place_of(const IntentEntry* entry) {
    return {entry->intent.key, entry->intent.token};
  }
  struct ByIntent {
    using is_transparent = void;
    bool operator()(const IntentEntry* left, const IntentEntry* right) const {
      return left->intent < right->intent;
    }
    bool operator()(const Intent& intent, const IntentEntry* entry) const {
      return intent < entry->intent;
    }
    bool operator()(const IntentEntry* entry, const Intent& intent) const {
      return entry->intent < intent;
    }
    bool operator()(const IntentEntry* entry, const Place& place) const {
      const Place other = place_of(entry);
      return tied(other) < tied(place);
    }
    bool operator()(const Place& place, const IntentEntry* entry) const {
      const Place other = place_of(entry);
      return tied(place) < tied(other);
    }
  };
  using Ordered = std::set<IntentEntry*, ByIntent>;

  IntentEntry* find(const Intent& intent, std::size_t hash);
  IntentEntry& add(Intent intent, std::size_t hash);
  void remove(IntentEntry& entry);
  void set_idle(IntentEntry& entry, bool idle);
  /// A change that puts the entry.
  static IntentChange& put(IntentEntry& entry, IntentWork& work);
  void drop(IntentEntry& entry, IntentChange& change);
  /// Adds what older tokens of the key have finished.
  void drop_finished(const Intent& than, IntentChange& change);
  void set_in_doubt(IntentEntry& entry, bool in_doubt);
  void answered_put(IntentEntry& entry, const base::Result<void>& result, IntentWork& work,
                    base::MonotonicTime now);
  void answered_drop(IntentEntry& entry, bool done, IntentWork& work, base::MonotonicTime now);

  std::atomic<std::size_t>& unsettled_;
  std::atomic<std::size_t>& entries_;
  std::mutex mutex_;
  std::list<IntentEntry> busy_;  ///< Running, in doubt, or with a request under way.
  std::list<IntentEntry> idle_;  ///< The longest idle first.
  std::unordered_set<IntentEntry*, HashOf, Equal> index_;
  Ordered by_key_;    ///< All.
  Ordered in_doubt_;  ///< Those in doubt.
};

}  // namespace fenceline::fencing
