#pragma once

#include <cstdint>
#include <string_view>

namespace fenceline::base::aws {

/// The cyclic redundancy checks of S3, all reflected, with all bits set before and flipped after.
enum class CrcKind : std::uint8_t {
  kCrc32,      ///< Of zlib and Ethernet, polynomial 0x04C11DB7.
  kCrc32c,     ///< Castagnoli, 0x1EDC6F41 (RFC 3720, appendix B.4).
  kCrc64Nvme,  ///< 0xAD93D23594C93659 (NVM Express, 64b CRC).
};

/// Goes on with a CRC: 0 at the start, and what the last call gave afterwards. Pure.
std::uint64_t crc(CrcKind kind, std::uint64_t before, std::string_view bytes);

}  // namespace fenceline::base::aws
