#include "base/aws/aws_chunked_frames.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "base/aws/checksum.h"
#include "tests/base/aws/body_fixture.h"

namespace fenceline::testing {
namespace {

using base::aws::AwsChunkedFrames;
using base::aws::ChecksumKind;
using base::aws::Payload;

constexpr std::uint64_t kChunk = AwsChunkedFrames::kChunkBytes;
constexpr std::array<ChecksumKind, 5> kKinds = {ChecksumKind::kCrc32, ChecksumKind::kCrc32c,
                                                ChecksumKind::kCrc64Nvme, ChecksumKind::kSha1,
                                                ChecksumKind::kSha256};

std::string checksum_of(const std::string& content, ChecksumKind kind) {
  base::aws::RunningChecksum running(kind);
  running.add(content);
  return running.value();
}

std::string in_frames(const std::string& content, ChecksumKind kind) {
  const AwsChunkedFrames frames(content.size(), kind);
  std::string body;
  for (std::uint64_t at = 0; at < content.size(); at += kChunk) {
    body += frames.before(at) + content.substr(at, kChunk);
  }
  return body + frames.end(checksum_of(content, kind));
}

std::string content_of(std::uint64_t bytes) {
  std::string content(bytes, ' ');
  for (std::uint64_t i = 0; i < bytes; ++i) {
    content[i] = static_cast<char>('a' + i * 7 / 5 % 26);
  }
  return content;
}

TEST(AwsChunkedFrames, AreAsS3WritesThem) {
  EXPECT_EQ(in_frames("123456789", ChecksumKind::kCrc32),
            "9\r\n123456789\r\n0\r\nx-amz-checksum-crc32:y/Q5Jg==\r\n\r\n");
  const std::string two = in_frames(content_of(kChunk + 31), ChecksumKind::kSha1);
  EXPECT_TRUE(two.starts_with("20000\r\nabc")) << two.substr(0, 20);
  EXPECT_EQ(two.substr(7 + kChunk, 6), "\r\n1f\r\n");
}

TEST(AwsChunkedFrames, NoContentIsTheEmptyChunkAlone) {
  EXPECT_EQ(in_frames("", ChecksumKind::kCrc32), "0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n");
  EXPECT_EQ(AwsChunkedFrames(0, ChecksumKind::kCrc32).before(0), "");
}

TEST(AwsChunkedFrames, StandOnlyWhereAChunkBegins) {
  const AwsChunkedFrames frames(2 * kChunk, ChecksumKind::kCrc32);
  EXPECT_EQ(frames.before(0), "20000\r\n");
  EXPECT_EQ(frames.before(1), "");
  EXPECT_EQ(frames.before(kChunk - 1), "");
  EXPECT_EQ(frames.before(kChunk), "\r\n20000\r\n");
  EXPECT_EQ(frames.before(2 * kChunk), "") << "behind a full chunk no empty one but the last";
  EXPECT_EQ(AwsChunkedFrames::left_in_chunk(0), kChunk);
  EXPECT_EQ(AwsChunkedFrames::left_in_chunk(kChunk - 1), 1U);
  EXPECT_EQ(AwsChunkedFrames::left_in_chunk(kChunk), kChunk);
}

TEST(AwsChunkedFrames, TheirLengthIsKnownBefore) {
  for (const ChecksumKind kind : kKinds) {
    for (const std::uint64_t bytes :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{15}, std::uint64_t{16}, kChunk - 1,
          kChunk, kChunk + 1, 2 * kChunk, 3 * kChunk + 255}) {
      const std::string content = content_of(bytes);
      const AwsChunkedFrames frames(bytes, kind);
      EXPECT_EQ(frames.body_bytes(), in_frames(content, kind).size()) << bytes;
      EXPECT_EQ(frames.end_bytes(), frames.end(checksum_of(content, kind)).size()) << bytes;
    }
  }
}

TEST(AwsChunkedFrames, OurDecoderTakesThem) {
  for (const ChecksumKind kind : kKinds) {
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, kChunk, 2 * kChunk + 3}) {
      const std::string content = content_of(bytes);
      const SentBody sent{.payload = Payload::kUnsignedTrailer,
                          .fields = {{"x-amz-decoded-content-length", std::to_string(bytes)},
                                     {"x-amz-trailer", std::string(base::aws::field_of(kind))}},
                          .bytes = in_frames(content, kind)};
      const GotBody got = receive(sent, 4099);
      EXPECT_EQ(got.outcome(), "ok") << got.error->detail;
      EXPECT_TRUE(got.content == content) << bytes;
    }
  }
}

}  // namespace
}  // namespace fenceline::testing
