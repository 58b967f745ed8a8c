#include "base/aws/checksum.h"

#include <gtest/gtest.h>

#include <string>

namespace fenceline::testing {
namespace {

using base::aws::Checksum;
using base::aws::checksum_of_field;
using base::aws::ChecksumKind;
using base::aws::crc;
using base::aws::CrcKind;
using base::aws::DigestKind;
using base::aws::field_of;
using base::aws::is_checksum_value;
using base::aws::RunningChecksum;
using base::aws::RunningDigest;

constexpr std::string_view kCheck = "123456789";

std::string value_of(ChecksumKind kind, std::string_view bytes, std::size_t step) {
  RunningChecksum running(kind);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    running.add(bytes.substr(at, step));
  }
  return running.value();
}

/// Bit by bit, as the standards write it down.
std::uint64_t slow_crc(std::uint64_t reflected, std::uint64_t all, std::string_view bytes) {
  std::uint64_t word = all;
  for (const char c : bytes) {
    word ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) {
      word = (word >> 1U) ^ ((word & 1U) != 0 ? reflected : 0);
    }
  }
  return word ^ all;
}

TEST(Crc, TheCheckValuesOfTheStandards) {
  EXPECT_EQ(crc(CrcKind::kCrc32, 0, kCheck), 0xcbf43926U);
  EXPECT_EQ(crc(CrcKind::kCrc32c, 0, kCheck), 0xe3069283U);
  EXPECT_EQ(crc(CrcKind::kCrc64Nvme, 0, kCheck), 0xae8b14860a799888U);
}

TEST(Crc, NothingIsZero) {
  for (const CrcKind kind : {CrcKind::kCrc32, CrcKind::kCrc32c, CrcKind::kCrc64Nvme}) {
    EXPECT_EQ(crc(kind, 0, ""), 0U);
  }
}

TEST(Crc, EveryLengthAndEveryCut) {
  std::string bytes;
  for (int i = 0; i < 40; ++i) {
    bytes.push_back(static_cast<char>(i * 37 + 11));
    const std::uint64_t crc32 = slow_crc(0xEDB88320U, 0xFFFFFFFFU, bytes);
    const std::uint64_t crc32c = slow_crc(0x82F63B78U, 0xFFFFFFFFU, bytes);
    const std::uint64_t nvme = slow_crc(0x9A6C9329AC4BC9B5U, ~std::uint64_t{0}, bytes);
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
      const std::string_view front = std::string_view(bytes).substr(0, cut);
      const std::string_view back = std::string_view(bytes).substr(cut);
      EXPECT_EQ(crc(CrcKind::kCrc32, crc(CrcKind::kCrc32, 0, front), back), crc32);
      EXPECT_EQ(crc(CrcKind::kCrc32c, crc(CrcKind::kCrc32c, 0, front), back), crc32c);
      EXPECT_EQ(crc(CrcKind::kCrc64Nvme, crc(CrcKind::kCrc64Nvme, 0, front), back), nvme);
    }
  }
}

// RFC 3720, B.4: 32 bytes of zeros, of ones, rising and falling.
TEST(Crc, CastagnoliOfIscsi) {
  std::string rising;
  for (char c = 0; c < 32; ++c) {
    rising.push_back(c);
  }
  EXPECT_EQ(crc(CrcKind::kCrc32c, 0, std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(crc(CrcKind::kCrc32c, 0, std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(crc(CrcKind::kCrc32c, 0, rising), 0x46dd794eU);
  EXPECT_EQ(crc(CrcKind::kCrc32c, 0, std::string(rising.rbegin(), rising.rend())), 0x113fdb5cU);
}

// RFC 1321, A.5; RFC 3174, 7.3; FIPS 180-2, B.1.
TEST(RunningDigest, KnownAnswers) {
  const auto of = [](DigestKind kind, std::string_view bytes) {
    RunningDigest digest(kind);
    digest.add(bytes);
    return digest.finish_hex();
  };
  EXPECT_EQ(of(DigestKind::kMd5, "abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(of(DigestKind::kSha1, "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(of(DigestKind::kSha256, "abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(RunningDigest, StartsAgainAfterEachResult) {
  RunningDigest digest(DigestKind::kSha256);
  digest.add("something else");
  EXPECT_NE(digest.finish_hex().substr(0, 8), "ba7816bf");
  digest.add("a");
  digest.add("bc");
  EXPECT_EQ(digest.finish_hex().substr(0, 8), "ba7816bf");
  EXPECT_EQ(digest.finish_hex().substr(0, 8), "e3b0c442") << "of nothing";
}

TEST(Checksum, AsItGoesIntoAField) {
  for (const std::size_t step : {1U, 2U, 9U}) {
    EXPECT_EQ(value_of(ChecksumKind::kCrc32, kCheck, step), "y/Q5Jg==");
    EXPECT_EQ(value_of(ChecksumKind::kCrc32c, kCheck, step), "4waSgw==");
    EXPECT_EQ(value_of(ChecksumKind::kCrc64Nvme, kCheck, step), "rosUhgp5mIg=");
    EXPECT_EQ(value_of(ChecksumKind::kSha1, kCheck, step), "98O8HYCOBHMq32eZZczDTKeuNEE=");
    EXPECT_EQ(value_of(ChecksumKind::kSha256, kCheck, step),
              "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=");
  }
}

TEST(Checksum, NamesGoBothWays) {
  for (const ChecksumKind kind :
       {ChecksumKind::kCrc32, ChecksumKind::kCrc32c, ChecksumKind::kCrc64Nvme, ChecksumKind::kSha1,
        ChecksumKind::kSha256}) {
    EXPECT_EQ(checksum_of_field(field_of(kind)), kind);
    const std::string value = value_of(kind, kCheck, 9);
    EXPECT_TRUE(is_checksum_value(kind, value));
    EXPECT_FALSE(is_checksum_value(kind, value + "AAAA"));
    EXPECT_FALSE(is_checksum_value(kind, value.substr(1)));
    EXPECT_FALSE(is_checksum_value(kind, ""));
  }
  EXPECT_EQ(checksum_of_field("X-AMZ-Checksum-CRC32"), ChecksumKind::kCrc32);
  EXPECT_EQ(checksum_of_field("x-amz-checksum-type"), std::nullopt);
  EXPECT_EQ(checksum_of_field("x-amz-checksum-"), std::nullopt);
}

}  // namespace
}  // namespace fenceline::testing
