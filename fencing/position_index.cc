#include "fencing/position_index.h"

namespace fenceline::fencing {

bool PositionIndex::insert(std::size_t hash, std::uint32_t position) {
  std::size_t slot = home_of(hash);
  unsigned away = 1;
  while (away_[slot] >= away) {
    slot = after(slot);
    if (++away > kMaxAway + 1) {
      return false;
    }
  }
  std::size_t free = slot;
  while (away_[free] != 0) {
    if (away_[free] > kMaxAway) {
      return false;
    }
    free = after(free);
  }
  for (; free != slot; free = before(free)) {
    away_[free] = static_cast<std::uint8_t>(away_[before(free)] + 1);
    entries_[free] = entries_[before(free)];
  }
  away_[slot] = static_cast<std::uint8_t>(away);
  entries_[slot] = (tag_of(hash) << kPositionBits) | position;
  ++size_;
  return true;
}

void PositionIndex::erase(std::size_t slot) {
  for (std::size_t next = after(slot); away_[next] > 1; slot = next, next = after(next)) {
    away_[slot] = static_cast<std::uint8_t>(away_[next] - 1);
    entries_[slot] = entries_[next];
  }
  away_[slot] = 0;
  --size_;
}

void PositionIndex::move(std::size_t slot, std::uint32_t position) {
  entries_[slot] = (entries_[slot] & ~((std::uint32_t{1} << kPositionBits) - 1)) | position;
}

}  // namespace fenceline::fencing
