#include "tests/fuzz/ledger_damage.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "fencing/ledger_format.h"

namespace fenceline::fuzz {
namespace {

// The layout of SQLite's files: https://www.sqlite.org/fileformat2.html
constexpr std::size_t kPage = fencing::kLedgerPageBytes;
constexpr std::size_t kFileHeader = 100;  // in front of the first page's b-tree
constexpr std::size_t kLogHeader = 32;
constexpr std::size_t kFrameHeader = 24;

enum class Edit : std::uint8_t {
  kByte,
  kByteOfLog,
  kNumber,
  kSwapCells,
  kCopyPage,
  kCutFile,
  kCutLog,
  kSealLog,
  kMaxValue = kSealLog,  // FuzzedDataProvider wants it
};

std::uint32_t number_at(const std::string& bytes, std::size_t at, std::size_t width) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < width && at + i < bytes.size(); ++i) {
    number = number << 8U | static_cast<std::uint8_t>(bytes[at + i]);
  }
  return number;
}

void put_number(std::string& bytes, std::size_t at, std::uint32_t number) {
  for (std::size_t i = 0; i < 4 && at + i < bytes.size(); ++i) {
    bytes[at + i] = static_cast<char>(number >> (24U - 8U * static_cast<unsigned>(i)));
  }
}

/// A place: the page first, so that small changes of the input stay on it.
std::size_t place_in(const std::string& bytes, FuzzedDataProvider& input) {
  const std::size_t page = input.ConsumeIntegralInRange<std::size_t>(0, bytes.size() / kPage);
  return page * kPage + input.ConsumeIntegralInRange<std::size_t>(0, kPage - 1);
}

void overwrite(std::string& bytes, FuzzedDataProvider& input) {
  const std::size_t place = place_in(bytes, input);
  const auto byte = input.ConsumeIntegral<char>();
  if (place < bytes.size()) {
    bytes[place] = byte;
  }
}

/// Exchanges two cells of a b-tree page: every byte is where it may be, but the keys are out of
/// order, so that a lookup can miss one.
void swap_cells(std::string& file, FuzzedDataProvider& input) {
  const std::size_t page = input.ConsumeIntegralInRange<std::size_t>(0, file.size() / kPage);
  const std::size_t start = page * kPage + (page == 0 ? kFileHeader : 0);
  const std::size_t cells = number_at(file, start + 3, 2);
  const bool interior = number_at(file, start, 1) < 8;
  const std::size_t pointers = start + (interior ? 12 : 8);
  if (cells < 2 || pointers + cells * 2 > file.size()) {
    return;
  }
  const std::size_t first = input.ConsumeIntegralInRange<std::size_t>(0, cells - 1);
  const std::size_t second = input.ConsumeIntegralInRange<std::size_t>(0, cells - 1);
  for (std::size_t i = 0; i < 2; ++i) {
    std::swap(file[pointers + first * 2 + i], file[pointers + second * 2 + i]);
  }
}

void copy_page(std::string& file, FuzzedDataProvider& input) {
  const std::size_t pages = file.size() / kPage;
  if (pages < 2) {
    return;
  }
  const std::size_t from = input.ConsumeIntegralInRange<std::size_t>(1, pages - 1);
  const std::size_t to = input.ConsumeIntegralInRange<std::size_t>(1, pages - 1);
  const std::string page = file.substr(from * kPage, kPage);
  file.replace(to * kPage, kPage, page);
}

void cut(std::string& bytes, FuzzedDataProvider& input) {
  bytes.resize(std::min(place_in(bytes, input), bytes.size()));
}

/// The running checksum of the log.
struct Checksum {
  std::uint32_t first = 0;
  std::uint32_t second = 0;

  void add(const std::string& log, std::size_t at, std::size_t size, bool big_endian) {
    const auto word = [&](std::size_t place) {
      const std::uint32_t number = number_at(log, place, 4);
      return big_endian ? number : __builtin_bswap32(number);
    };
    for (std::size_t i = at; i < at + size; i += 8) {
      first += word(i) + second;
      second += word(i + 4) + first;
    }
  }

  void put(std::string& log, std::size_t at) const {
    put_number(log, at, first);
    put_number(log, at + 4, second);
  }
};

/// Makes every frame valid as the log's header says: its salts and its checksum.
void seal(std::string& log) {
  if (log.size() < kLogHeader) {
    return;
  }
  const bool big_endian = (number_at(log, 0, 4) & 1U) != 0;
  Checksum checksum;
  checksum.add(log, 0, kLogHeader - 8, big_endian);
  checksum.put(log, kLogHeader - 8);
  for (std::size_t frame = kLogHeader; frame + kFrameHeader + kPage <= log.size();
       frame += kFrameHeader + kPage) {
    log.replace(frame + 8, 8, log.substr(16, 8));
    checksum.add(log, frame, 8, big_endian);
    checksum.add(log, frame + kFrameHeader, kPage, big_endian);
    checksum.put(log, frame + 16);
  }
}

}  // namespace

void damage(LedgerBytes& bytes, FuzzedDataProvider& input) {
  constexpr int kMostEdits = 16;
  for (int i = 0; i < kMostEdits && input.remaining_bytes() > 0; ++i) {
    switch (input.ConsumeEnum<Edit>()) {
      case Edit::kByte:
        overwrite(bytes.file, input);
        break;
      case Edit::kByteOfLog:
        overwrite(bytes.log, input);
        break;
      case Edit::kNumber: {
        const std::size_t place = place_in(bytes.file, input);
        put_number(bytes.file, place, input.ConsumeIntegral<std::uint32_t>());
        break;
      }
      case Edit::kSwapCells:
        swap_cells(bytes.file, input);
        break;
      case Edit::kCopyPage:
        copy_page(bytes.file, input);
        break;
      case Edit::kCutFile:
        cut(bytes.file, input);
        break;
      case Edit::kCutLog:
        cut(bytes.log, input);
        break;
      case Edit::kSealLog:
        seal(bytes.log);
        break;
    }
  }
}

}  // namespace fenceline::fuzz
