#include "backends/s3/trailed_body.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends/s3/s3_driver.h"

namespace fenceline::testing {
namespace {

using backends::s3::trailed_fields;
using backends::s3::TrailedBody;
using base::aws::AwsChunkedFrames;
using base::aws::Checksum;
using base::aws::ChecksumKind;

const Checksum kZero{.kind = ChecksumKind::kCrc32, .value = "AAAAAA=="};
const std::string kEnd = "\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n";

struct Read {
  std::string text;
  std::optional<base::Error> error;
  std::optional<std::uint64_t> declared_bytes;
};

Read read_all(std::vector<std::string> pieces, std::size_t bytes, std::optional<Checksum> checksum,
              std::optional<base::Error> end = {}) {
  CheckedBody content(std::move(pieces), true, std::move(checksum), std::move(end));
  TrailedBody body(content, content, AwsChunkedFrames(bytes, ChecksumKind::kCrc32));
  Read read;
  read.declared_bytes = body.declared_bytes();
  while (true) {
    auto piece = run(body.read());
    if (!piece) {
      read.error = piece.error();
      return read;
    }
    if (piece->empty()) {
      EXPECT_TRUE(run(body.read()).value().empty()) << "and again";
      return read;
    }
    read.text += *piece;
  }
}

TEST(S3TrailedBody, FramesItsContent) {
  const Read read = read_all({"ab", "c"}, 3, kZero);
  EXPECT_EQ(read.text, "3\r\nabc" + kEnd);
  EXPECT_EQ(read.declared_bytes, read.text.size());
}

TEST(S3TrailedBody, CutsChunksWhereverThePiecesEnd) {
  constexpr std::size_t kChunk = AwsChunkedFrames::kChunkBytes;
  const std::string content = std::string(kChunk, 'x') + std::string(kChunk, 'y') + "z";
  const std::string expected = "20000\r\n" + std::string(kChunk, 'x') + "\r\n20000\r\n" +
                               std::string(kChunk, 'y') + "\r\n1\r\nz" + kEnd;
  for (const std::size_t step : {kChunk / 2 + 1, kChunk, 2 * kChunk, content.size()}) {
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < content.size(); at += step) {
      pieces.push_back(content.substr(at, step));
    }
    const Read read = read_all(std::move(pieces), content.size(), kZero);
    EXPECT_TRUE(read.text == expected) << step;
    EXPECT_EQ(read.declared_bytes, expected.size());
  }
}

TEST(S3TrailedBody, OfABodyThatFailsHasNoEnd) {
  const base::Error wrong{.kind = base::ErrorKind::kMalformedRequest, .detail = "wrong checksum"};
  const Read read = read_all({"ab"}, 3, kZero, wrong);
  ASSERT_TRUE(read.error);
  EXPECT_EQ(read.error->detail, "wrong checksum");
  EXPECT_EQ(read.text, "3\r\nab");
}

TEST(S3TrailedBody, WithoutTheChecksumThatWasAnnouncedHasNoEnd) {
  for (const auto& checksum :
       std::vector<std::optional<Checksum>>{std::nullopt, Checksum{ChecksumKind::kSha1, "x"}}) {
    const Read read = read_all({"abc"}, 3, checksum);
    ASSERT_TRUE(read.error);
    EXPECT_EQ(read.error->kind, base::ErrorKind::kInternal);
    EXPECT_EQ(read.text, "3\r\nabc");
  }
}

TEST(S3TrailedBody, WhatItsHeadSays) {
  const std::vector<base::OwnedField> expected = {{"Content-Encoding", "gzip,aws-chunked"},
                                                  {"x-amz-decoded-content-length", "3"},
                                                  {"x-amz-trailer", "x-amz-checksum-sha256"}};
  const AwsChunkedFrames frames(3, ChecksumKind::kSha256);
  EXPECT_EQ(trailed_fields("gzip", frames), expected);
  EXPECT_EQ(trailed_fields("", frames).at(0).second, "aws-chunked");
}

}  // namespace
}  // namespace fenceline::testing
