#pragma once

// The checksums of S3 (https://docs.aws.amazon.com/AmazonS3/latest/userguide/
// checking-object-integrity.html).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/aws/crc.h"
#include "base/aws/running_digest.h"

namespace fenceline::base::aws {

/// The checksum algorithms of S3, by their fields `x-amz-checksum-crc32`, `-crc32c`, `-crc64nvme`,
/// `-sha1`, `-sha256`.
enum class ChecksumKind : std::uint8_t { kCrc32, kCrc32c, kCrc64Nvme, kSha1, kSha256 };

/// A checksum that was declared, as it goes into a field: base64.
struct Checksum {
  ChecksumKind kind = ChecksumKind::kCrc32;
  std::string value;
};

/// `x-amz-checksum-crc32` and so on.
std::string_view field_of(ChecksumKind kind);

/// The algorithm of a field or trailer, without regard to case; nothing for any other name.
std::optional<ChecksumKind> checksum_of_field(std::string_view name);

/// How long the value of such a checksum is, in base64.
std::size_t value_bytes(ChecksumKind kind);

/// True if `value` is the one base64 of as many bytes as a checksum of this kind has.
bool is_checksum_value(ChecksumKind kind, std::string_view value);

/// A checksum of bytes that come piece by piece.
class RunningChecksum {
 public:
  explicit RunningChecksum(ChecksumKind kind);

  void add(std::string_view bytes);

  /// Of all that was added, in base64; CRCs with the highest byte first. Call it once.
  std::string value();

 private:
  struct Crc {
    CrcKind kind;
    std::size_t bytes;
    std::uint64_t value = 0;
  };

  std::variant<Crc, RunningDigest> running_;
};

}  // namespace fenceline::base::aws
