#include "base/aws/crc.h"

#include <array>
#include <bit>
#include <cstddef>
#include <limits>

#include "base/bytes.h"

namespace fenceline::base::aws {
namespace {

constexpr std::size_t kStep = sizeof(std::uint64_t);

/// Row n: what a byte contributes with n more bytes behind it. Eight rows take eight bytes at once.
template <typename Word>
using Table = std::array<std::array<Word, 256>, kStep>;

template <typename Word>
constexpr Table<Word> table_of(Word reflected_polynomial) {
  Table<Word> table{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    Word word = static_cast<Word>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      word = (word >> 1U) ^ ((word & 1U) != 0 ? reflected_polynomial : Word{0});
    }
    table[0][byte] = word;
  }
  for (std::size_t row = 1; row < kStep; ++row) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const Word before = table[row - 1][byte];
      table[row][byte] = (before >> 8U) ^ table[0][before & 0xFFU];
    }
  }
  return table;
}

constexpr Table<std::uint32_t> kCrc32Table = table_of<std::uint32_t>(0xEDB88320U);
constexpr Table<std::uint32_t> kCrc32cTable = table_of<std::uint32_t>(0x82F63B78U);
constexpr Table<std::uint64_t> kCrc64NvmeTable = table_of<std::uint64_t>(0x9A6C9329AC4BC9B5U);

template <typename Word>
Word go_on(const Table<Word>& table, Word before, std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");
  constexpr Word kAll = std::numeric_limits<Word>::max();
  Word word = before ^ kAll;
  while (bytes.size() >= kStep) {
    const std::uint64_t eight = eight_bytes(bytes.data()) ^ word;
    word = 0;
    for (std::size_t i = 0; i < kStep; ++i) {
      word ^= table[kStep - 1 - i][(eight >> (8 * i)) & 0xFFU];
    }
    bytes.remove_prefix(kStep);
  }
  for (const char c : bytes) {
    word = (word >> 8U) ^ table[0][(word ^ static_cast<std::uint8_t>(c)) & 0xFFU];
  }
  return word ^ kAll;
}

}  // namespace

std::uint64_t crc(CrcKind kind, std::uint64_t before, std::string_view bytes) {
  switch (kind) {
    case CrcKind::kCrc32:
      return go_on(kCrc32Table, static_cast<std::uint32_t>(before), bytes);
    case CrcKind::kCrc32c:
      return go_on(kCrc32cTable, static_cast<std::uint32_t>(before), bytes);
    case CrcKind::kCrc64Nvme:
      break;
  }
  return go_on(kCrc64NvmeTable, before, bytes);
}

}  // namespace fenceline::base::aws
