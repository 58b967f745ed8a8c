#include "fencing/idle_marks.h"

#include <algorithm>
#include <utility>

namespace fenceline::fencing {
namespace {

/// Slots of the first table.
constexpr std::size_t kFewSlots = 16;

}  // namespace

static_assert(PositionIndex::kPositionBits == MarkArena::kPositionBits);

void IdleMarks::put(const HashedKey& key, const Mark& mark) {
  if (const auto old = slot_of(key)) {
    forget(*old);
  }
  if (index_.crowded()) {
    grow();
  }
  auto position = arena_.append(key.text, mark);
  while (!position && forget_oldest()) {
    position = arena_.append(key.text, mark);
  }
  if (position && !index_.insert(key.hash, *position)) {
    arena_.drop(*position);
  }
  compact();
}

std::optional<Mark> IdleMarks::take(const HashedKey& key) {
  const auto slot = slot_of(key);
  if (!slot) {
    return std::nullopt;
  }
  Mark mark = arena_.mark_at(index_.position(*slot));
  forget(*slot);
  return mark;
}

std::optional<Mark> IdleMarks::find(const HashedKey& key) const {
  const auto slot = slot_of(key);
  return slot ? std::optional(arena_.mark_at(index_.position(*slot))) : std::nullopt;
}

bool IdleMarks::forget_oldest() {
  const auto position = arena_.oldest();
  if (!position) {
    return false;
  }
  forget(slot_of(*position));
  return true;
}

std::size_t IdleMarks::bytes() const { return arena_.bytes() + index_.bytes(); }

std::optional<std::size_t> IdleMarks::slot_of(const HashedKey& key) const {
  return index_.find(key.hash, [this, &key](MarkArena::Position position) {
    return arena_.key_at(position) == key.text;
  });
}

std::size_t IdleMarks::slot_of(MarkArena::Position position) const {
  const auto is_it = [position](MarkArena::Position other) { return other == position; };
  return *index_.find(hash_(arena_.key_at(position)), is_it);
}

void IdleMarks::forget(std::size_t slot) {
  arena_.drop(index_.position(slot));
  index_.erase(slot);
}

void IdleMarks::grow() {
  // By a quarter: memory is what this class is about, and every key comes by way of the ledger.
  PositionIndex larger(std::max(kFewSlots, index_.slots() + index_.slots() / 4));
  const std::deque<MarkArena::SegmentId> segments = arena_.segments();
  for (const MarkArena::SegmentId id : segments) {
    for (const MarkArena::Position position : arena_.entries_of(id)) {
      if (!larger.insert(hash_(arena_.key_at(position)), position)) {
        arena_.drop(position);
      }
    }
  }
  index_ = std::move(larger);
}

void IdleMarks::compact() {
  while (const auto id = arena_.worth_emptying()) {
    for (const MarkArena::Position position : arena_.entries_of(*id)) {
      const auto copy = arena_.append_copy(position);
      if (!copy) {
        return;
      }
      index_.move(slot_of(position), *copy);
      arena_.drop(position);
    }
  }
}

}  // namespace fenceline::fencing
