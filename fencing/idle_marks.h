#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "fencing/hashed_key.h"
#include "fencing/mark.h"
#include "fencing/mark_arena.h"
#include "fencing/position_index.h"

namespace fenceline::fencing {

/// The durable marks of keys that nobody uses, in as little memory as will do: about 8 bytes more
/// than key and holder for a small token, 15 for the largest. A cache: what it forgets is in the
/// ledger. No locking of its own: the mutex of its shard guards it.
class IdleMarks {
 public:
  /// The hash of a key, the same that comes with it.
  using Hash = std::size_t (*)(std::string_view key);

  /// `max_segments` bounds the memory: 1 GiB by default. Above it, the oldest are forgotten.
  explicit IdleMarks(std::size_t max_segments = MarkArena::kMaxSegments, Hash hash = hash_of)
      : arena_(max_segments), hash_(hash) {}

  /// Keeps the mark of a key as the youngest, in place of what it holds of this key. Forgets it at
  /// once if too many keys share its hash.
  void put(const HashedKey& key, const Mark& mark);

  /// The mark of a key, which is no longer held here; nothing if it was not.
  std::optional<Mark> take(const HashedKey& key);

  /// As `take`, and goes on holding it.
  [[nodiscard]] std::optional<Mark> find(const HashedKey& key) const;

  /// Forgets the key that was put the longest ago; one that was moved to win space back counts as
  /// put then. False if there is none.
  bool forget_oldest();

  [[nodiscard]] std::size_t size() const { return index_.size(); }
  /// Memory in use.
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] std::optional<std::size_t> slot_of(const HashedKey& key) const;
  /// The slot of an entry of the arena.
  [[nodiscard]] std::size_t slot_of(MarkArena::Position position) const;
  void forget(std::size_t slot);
  void grow();
  void compact();

  MarkArena arena_;
  PositionIndex index_;
  Hash hash_;
};

}  // namespace fenceline::fencing
