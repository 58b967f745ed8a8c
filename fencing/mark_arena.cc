#include "fencing/mark_arena.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace fenceline::fencing {
namespace {

constexpr std::uint16_t kKeyBytesMask = 0x7ff;
constexpr std::uint16_t kDropped = 1U << 11U;
constexpr std::uint16_t kHasHolder = 1U << 12U;
constexpr unsigned kTokenShift = 13;
constexpr std::size_t kHeaderBytes = sizeof(std::uint16_t);

constexpr MarkArena::Position position_of(MarkArena::SegmentId id, std::size_t offset) {
  return (MarkArena::Position{id} << MarkArena::kOffsetBits) |
         static_cast<MarkArena::Position>(offset);
}
constexpr MarkArena::SegmentId segment_of(MarkArena::Position position) {
  return static_cast<MarkArena::SegmentId>(position >> MarkArena::kOffsetBits);
}
constexpr std::size_t offset_of(MarkArena::Position position) {
  return position & (MarkArena::kSegmentBytes - 1);
}

std::uint16_t flags_at(const unsigned char* entry) {
  std::uint16_t flags = 0;
  std::memcpy(&flags, entry, kHeaderBytes);
  return flags;
}

std::string_view text_at(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

/// The lengths of an entry, which lies as: flags, length of the holder less one (if there is one),
/// token (low byte first), holder, key.
struct MarkArena::Header {
  std::size_t key = 0;
  std::size_t token = 1;
  std::size_t holder = 0;

  static Header read(const unsigned char* entry) {
    const std::uint16_t flags = flags_at(entry);
    const bool holder = (flags & kHasHolder) != 0;
    return {static_cast<std::size_t>(flags & kKeyBytesMask),
            static_cast<std::size_t>(flags >> kTokenShift) + 1,
            holder ? std::size_t{entry[kHeaderBytes]} + 1 : 0};
  }

  void write(unsigned char* entry) const {
    const auto flags = static_cast<std::uint16_t>(key | (holder > 0 ? kHasHolder : 0U) |
                                                  ((token - 1) << kTokenShift));
    std::memcpy(entry, &flags, kHeaderBytes);
    if (holder > 0) {
      entry[kHeaderBytes] = static_cast<unsigned char>(holder - 1);
    }
  }

  [[nodiscard]] std::size_t token_offset() const { return kHeaderBytes + (holder > 0 ? 1U : 0U); }
  [[nodiscard]] std::size_t holder_offset() const { return token_offset() + token; }
  [[nodiscard]] std::size_t key_offset() const { return holder_offset() + holder; }
  [[nodiscard]] std::size_t size() const { return key_offset() + key; }
};

const unsigned char* MarkArena::at(Position position) const {
  return segments_[segment_of(position)].bytes->data() + offset_of(position);
}

unsigned char* MarkArena::at(Position position) {
  return segments_[segment_of(position)].bytes->data() + offset_of(position);
}

std::optional<MarkArena::Position> MarkArena::append(std::string_view key, const Mark& mark) {
  auto token = static_cast<std::uint64_t>(mark.token.value());
  Header header;
  header.key = key.size();
  header.token =
      std::max<std::size_t>(1, (static_cast<std::size_t>(std::bit_width(token)) + 7) / 8);
  header.holder = mark.holder.size();
  const auto position = allocate(header.size());
  if (!position) {
    return std::nullopt;
  }
  unsigned char* const entry = at(*position);
  header.write(entry);
  for (std::size_t i = 0; i < header.token; ++i, token >>= 8U) {
    entry[header.token_offset() + i] = static_cast<unsigned char>(token & 0xffU);
  }
  std::ranges::copy(mark.holder, entry + header.holder_offset());
  std::ranges::copy(key, entry + header.key_offset());
  return position;
}

std::optional<MarkArena::Position> MarkArena::append_copy(Position position) {
  const std::size_t size = Header::read(at(position)).size();
  const auto copy = allocate(size);
  if (copy) {
    std::memcpy(at(*copy), at(position), size);
  }
  return copy;
}

std::string_view MarkArena::key_at(Position position) const {
  const unsigned char* const entry = at(position);
  const Header header = Header::read(entry);
  return text_at(entry + header.key_offset(), header.key);
}

Mark MarkArena::mark_at(Position position) const {
  const unsigned char* const entry = at(position);
  const Header header = Header::read(entry);
  std::uint64_t token = 0;
  for (std::size_t i = header.token; i > 0; --i) {
    token = (token << 8U) | entry[header.token_offset() + i - 1];
  }
  return Mark{base::Token::of(static_cast<std::int64_t>(token)),
              std::string(text_at(entry + header.holder_offset(), header.holder))};
}

void MarkArena::drop(Position position) {
  unsigned char* const entry = at(position);
  const std::size_t size = Header::read(entry).size();
  const auto flags = static_cast<std::uint16_t>(flags_at(entry) | kDropped);
  std::memcpy(entry, &flags, kHeaderBytes);
  const SegmentId id = segment_of(position);
  Segment& segment = segments_[id];
  segment.alive -= size;
  alive_ -= size;
  dropped_ += size;
  if (segment.alive == 0) {
    release(id);
  }
}

std::optional<MarkArena::Position> MarkArena::oldest() {
  // Only the last segment may be without an entry.
  if (order_.empty() || segments_[order_.front()].alive == 0) {
    return std::nullopt;
  }
  Segment& segment = segments_[order_.front()];
  for (;;) {
    const Position position = position_of(order_.front(), segment.first);
    if ((flags_at(at(position)) & kDropped) == 0) {
      return position;
    }
    segment.first += Header::read(at(position)).size();
  }
}

std::optional<MarkArena::SegmentId> MarkArena::worth_emptying() const {
  if (dropped_ <= alive_ / 4 + kSegmentBytes) {
    return std::nullopt;
  }
  // The last is still written to. It alone cannot hold so much that was dropped.
  return *std::max_element(order_.begin(), order_.end() - 1, [this](SegmentId a, SegmentId b) {
    return segments_[a].used - segments_[a].alive < segments_[b].used - segments_[b].alive;
  });
}

std::vector<MarkArena::Position> MarkArena::entries_of(SegmentId id) const {
  std::vector<Position> found;
  const Segment& segment = segments_[id];
  for (std::size_t offset = segment.first; offset < segment.used;) {
    const Position position = position_of(id, offset);
    if ((flags_at(at(position)) & kDropped) == 0) {
      found.push_back(position);
    }
    offset += Header::read(at(position)).size();
  }
  return found;
}

std::optional<MarkArena::Position> MarkArena::allocate(std::size_t size) {
  if (order_.empty() || segments_[order_.back()].used + size > kSegmentBytes) {
    if (!open_segment()) {
      return std::nullopt;
    }
  }
  Segment& segment = segments_[order_.back()];
  const Position position = position_of(order_.back(), segment.used);
  segment.used += size;
  segment.alive += size;
  alive_ += size;
  return position;
}

bool MarkArena::open_segment() {
  if (order_.size() >= max_segments_) {
    return false;
  }
  if (unused_.empty()) {
    unused_.push_back(static_cast<SegmentId>(segments_.size()));
    segments_.emplace_back();
  }
  // Not zeroed: what is not used yet takes no memory.
  segments_[unused_.back()].bytes =
      std::make_unique_for_overwrite<std::array<unsigned char, kSegmentBytes>>();
  order_.push_back(unused_.back());
  unused_.pop_back();
  return true;
}

void MarkArena::release(SegmentId id) {
  Segment& segment = segments_[id];
  dropped_ -= segment.used;
  if (id == order_.back()) {
    segment.used = segment.first = 0;
    return;
  }
  segment = Segment{};
  unused_.push_back(id);
  std::erase(order_, id);
}

}  // namespace fenceline::fencing
