#include "base/aws/checksum.h"

#include <array>

#include "base/base64.h"
#include "base/field_syntax.h"

namespace fenceline::base::aws {
namespace {

struct Row {
  ChecksumKind kind;
  std::string_view field;
  std::size_t bytes;
};

constexpr std::array<Row, 5> kRows{{
    {ChecksumKind::kCrc32, "x-amz-checksum-crc32", 4},
    {ChecksumKind::kCrc32c, "x-amz-checksum-crc32c", 4},
    {ChecksumKind::kCrc64Nvme, "x-amz-checksum-crc64nvme", 8},
    {ChecksumKind::kSha1, "x-amz-checksum-sha1", 20},
    {ChecksumKind::kSha256, "x-amz-checksum-sha256", 32},
}};

const Row& row_of(ChecksumKind kind) { return kRows.at(static_cast<std::size_t>(kind)); }

}  // namespace

std::string_view field_of(ChecksumKind kind) { return row_of(kind).field; }

std::optional<ChecksumKind> checksum_of_field(std::string_view name) {
  for (const Row& row : kRows) {
    if (equal_names(row.field, name)) {
      return row.kind;
    }
  }
  return std::nullopt;
}

std::size_t value_bytes(ChecksumKind kind) { return (row_of(kind).bytes + 2) / 3 * 4; }

bool is_checksum_value(ChecksumKind kind, std::string_view value) {
  const auto bytes = decode_base64(value);
  return bytes && bytes->size() == row_of(kind).bytes;
}

RunningChecksum::RunningChecksum(ChecksumKind kind)
    : running_(Crc{.kind = CrcKind::kCrc32, .bytes = row_of(kind).bytes}) {
  switch (kind) {
    case ChecksumKind::kCrc32:
      break;
    case ChecksumKind::kCrc32c:
      std::get<Crc>(running_).kind = CrcKind::kCrc32c;
      break;
    case ChecksumKind::kCrc64Nvme:
      std::get<Crc>(running_).kind = CrcKind::kCrc64Nvme;
      break;
    case ChecksumKind::kSha1:
      running_ = RunningDigest(DigestKind::kSha1);
      break;
    case ChecksumKind::kSha256:
      running_ = RunningDigest(DigestKind::kSha256);
      break;
  }
}

void RunningChecksum::add(std::string_view bytes) {
  if (Crc* const running = std::get_if<Crc>(&running_)) {
    running->value = crc(running->kind, running->value, bytes);
  } else {
    std::get<RunningDigest>(running_).add(bytes);
  }
}

std::string RunningChecksum::value() {
  std::string bytes;
  if (const Crc* const running = std::get_if<Crc>(&running_)) {
    for (std::size_t i = running->bytes; i > 0; --i) {
      bytes.push_back(static_cast<char>(running->value >> (8 * (i - 1)) & 0xFFU));
    }
  } else {
    bytes = std::get<RunningDigest>(running_).finish();
  }
  std::string text;
  append_base64(text, bytes);
  return text;
}

}  // namespace fenceline::base::aws
