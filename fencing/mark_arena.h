#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fencing/mark.h"

namespace fenceline::fencing {

/// Keys with their marks, packed one after the other into segments of equal size, the oldest first.
/// An entry costs two bytes, the significant bytes of the token, the key, and a holder if there is
/// one. Knows nothing of look-ups: who appends keeps the position. One thread at a time.
class MarkArena {
 public:
  /// Names an entry; uses the low `kPositionBits` bits.
  using Position = std::uint32_t;
  using SegmentId = std::uint16_t;

  static constexpr unsigned kOffsetBits = 14;
  static constexpr std::size_t kSegmentBytes = std::size_t{1} << kOffsetBits;
  static constexpr std::size_t kMaxSegments = std::size_t{1} << 16U;
  static constexpr unsigned kPositionBits = kOffsetBits + 16;

  explicit MarkArena(std::size_t max_segments = kMaxSegments) : max_segments_(max_segments) {}

  /// Adds an entry as the youngest. `key` has 1 … 1024 bytes, the holder at most `kMaxHolderBytes`.
  /// Success: its position, valid until `drop`. Failure: nothing, all the segments are in use.
  std::optional<Position> append(std::string_view key, const Mark& mark);

  /// Adds a copy of the entry at `position` as the youngest; else as `append`.
  std::optional<Position> append_copy(Position position);

  /// The key of an entry; valid until it is dropped.
  [[nodiscard]] std::string_view key_at(Position position) const;
  [[nodiscard]] Mark mark_at(Position position) const;

  /// Removes an entry. Its space comes back once nothing else is left in its segment.
  void drop(Position position);

  /// The oldest entry; nothing if there is none.
  std::optional<Position> oldest();

  /// The segment from which the most space would be won by moving its entries away; nothing while
  /// dropped entries take less than a quarter of what the others take, and one segment.
  [[nodiscard]] std::optional<SegmentId> worth_emptying() const;

  /// The segments in use, the oldest first.
  [[nodiscard]] const std::deque<SegmentId>& segments() const { return order_; }
  /// The entries of a segment, the oldest first.
  [[nodiscard]] std::vector<Position> entries_of(SegmentId id) const;

  /// Memory in use.
  [[nodiscard]] std::size_t bytes() const { return order_.size() * kSegmentBytes; }

 private:
  struct Segment {
    std::unique_ptr<std::array<unsigned char, kSegmentBytes>> bytes;
    std::size_t used = 0;   ///< Bytes up to the end of the last entry.
    std::size_t alive = 0;  ///< Bytes of entries that were not dropped.
    std::size_t first = 0;  ///< No entry before this offset is alive.
  };
  struct Header;

  [[nodiscard]] const unsigned char* at(Position position) const;
  unsigned char* at(Position position);
  /// Room for an entry of `size` bytes, counted as alive.
  std::optional<Position> allocate(std::size_t size);
  bool open_segment();
  void release(SegmentId id);

  std::size_t max_segments_;
  std::vector<Segment> segments_;  ///< By id.
  std::vector<SegmentId> unused_;  ///< Ids whose segment was released.
  std::deque<SegmentId> order_;    ///< Ids in use; entries are appended to the last.
  std::size_t alive_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace fenceline::fencing
