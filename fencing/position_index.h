#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace fenceline::fencing {

/// A hash table of 30-bit positions that knows their hashes only while it is asked: open
/// addressing, linear probing, the entries in the order of the slots they belong to (Celis 1986,
/// "Robin Hood hashing"), removed without a trace. Five bytes a slot. One thread at a time.
///
/// Keys of one hash cannot fill it with a long search: no entry lies further than `kMaxAway` slots
/// from where it belongs; what would is not taken.
class PositionIndex {
 public:
  static constexpr unsigned kMaxAway = 254;
  static constexpr unsigned kPositionBits = 30;

  explicit PositionIndex(std::size_t slots = 0) : away_(slots, 0), entries_(slots, 0) {}

  [[nodiscard]] std::size_t slots() const { return away_.size(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Memory in use.
  [[nodiscard]] std::size_t bytes() const {
    return slots() * (sizeof(away_[0]) + sizeof(entries_[0]));
  }
  /// True if another entry would make it slow: make a larger one first.
  [[nodiscard]] bool crowded() const { return (size_ + 1) * 10 > slots() * 9; }

  /// The slot of an entry with this hash for whose position `is_it` says true; nothing if there is
  /// none. `is_it` is asked for few others.
  template <typename Predicate>
  [[nodiscard]] std::optional<std::size_t> find(std::size_t hash, const Predicate& is_it) const {
    if (size_ == 0) {
      return std::nullopt;
    }
    std::size_t slot = home_of(hash);
    for (unsigned away = 1; away <= kMaxAway + 1 && away_[slot] >= away; ++away) {
      if (away_[slot] == away && (entries_[slot] >> kPositionBits) == tag_of(hash) &&
          is_it(position(slot))) {
        return slot;
      }
      slot = after(slot);
    }
    return std::nullopt;
  }

  /// Adds an entry; not if `crowded`. False if too many of like hash are there: nothing changed.
  bool insert(std::size_t hash, std::uint32_t position);

  /// Removes the entry of a slot; other entries change their slots.
  void erase(std::size_t slot);

  [[nodiscard]] std::uint32_t position(std::size_t slot) const {
    return entries_[slot] & ((std::uint32_t{1} << kPositionBits) - 1);
  }

  /// Gives the entry of a slot another position.
  void move(std::size_t slot, std::uint32_t position);

 private:
  // The lowest 6 bits of the hash chose the shard, the highest 32 choose the slot.
  static std::uint32_t tag_of(std::size_t hash) { return (hash >> 6U) & 3U; }
  [[nodiscard]] std::size_t home_of(std::size_t hash) const {
    return ((std::uint64_t{hash} >> 32U) * slots()) >> 32U;
  }
  [[nodiscard]] std::size_t after(std::size_t slot) const {
    return slot + 1 == slots() ? 0 : slot + 1;
  }
  [[nodiscard]] std::size_t before(std::size_t slot) const {
    return (slot == 0 ? slots() : slot) - 1;
  }

  std::vector<std::uint8_t> away_;      ///< 0: empty; else one more than the distance from home.
  std::vector<std::uint32_t> entries_;  ///< Two bits of the hash, above the position.
  std::size_t size_ = 0;
};

}  // namespace fenceline::fencing
