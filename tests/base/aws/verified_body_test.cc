#include "base/aws/verified_body.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/aws/running_digest.h"
#include "tests/base/aws/body_fixture.h"
#include "tests/base/aws/wire_lines.h"

namespace fenceline::testing {
namespace {

using base::aws::ChecksumKind;
using base::aws::Payload;

const std::string kText = "a storage service that is fenced";

/// What the boto3 of today sends over TLS: no Content-Length, a checksum behind the body.
SentBody with_trailer(const std::string& content, std::vector<std::string_view> chunks) {
  SentBody sent{.payload = Payload::kUnsignedTrailer,
                .fields = {{"Content-Encoding", "aws-chunked"},
                           {"X-Amz-Decoded-Content-Length", std::to_string(content.size())},
                           {"X-Amz-Trailer", "x-amz-checksum-crc32"}},
                .declares = false};
  const std::string trailer = "x-amz-checksum-crc32:" + crc32_of(content);
  chunks.insert(chunks.end(), {"0", trailer, ""});
  sent.bytes = lines(chunks);
  return sent;
}

SentBody without_length(SentBody sent) {
  std::erase_if(sent.fields, [](const auto& field) { return field.first.ends_with("-Length"); });
  return sent;
}

/// However it is cut, this comes out of it.
void expect_content(const SentBody& sent, const std::string& content) {
  for (std::size_t cut = 0; cut <= sent.bytes.size(); ++cut) {
    const GotBody got = receive(sent, std::vector<std::size_t>{cut});
    ASSERT_EQ(got.outcome(), "ok") << "cut at " << cut << ": " << got.error->detail;
    ASSERT_EQ(got.content, content) << "cut at " << cut;
    ASSERT_FALSE(got.reads_on);
  }
  for (std::size_t step = 1; step < sent.bytes.size(); ++step) {
    const GotBody got = receive(sent, step);
    ASSERT_EQ(got.outcome(), "ok") << "in pieces of " << step << ": " << got.error->detail;
    ASSERT_EQ(got.content, content) << "in pieces of " << step;
  }
}

TEST(VerifiedBody, APlainBodyPassesAsItIs) {
  SentBody sent{.bytes = kText};
  expect_content(sent, kText);
  const GotBody got = receive(sent);
  EXPECT_EQ(got.declared_bytes, kText.size());
  EXPECT_EQ(got.pieces, std::vector<std::string>{kText}) << "not cut without need";
  EXPECT_EQ(got.checksum, std::nullopt);
  EXPECT_EQ(got.trailer, std::nullopt);
  EXPECT_EQ(got.md5, std::nullopt);
  sent.declares = false;
  expect_content(sent, kText);
  EXPECT_EQ(receive(sent).declared_bytes, std::nullopt);
}

TEST(VerifiedBody, AnEmptyBodyIsOne) {
  for (const bool declares : {true, false}) {
    SentBody sent{.fields = {{"x-amz-checksum-crc32", "AAAAAA=="}}, .declares = declares};
    EXPECT_EQ(receive(sent).outcome(), "ok");
    sent.fields = {{"x-amz-checksum-crc32", crc32_of("x")}};
    EXPECT_EQ(receive(sent).outcome(), "BadDigest");
  }
  expect_content(with_trailer("", {}), "");
}

TEST(VerifiedBody, EveryChecksumInAField) {
  const std::vector<std::pair<ChecksumKind, std::string>> all{
      {ChecksumKind::kCrc32, "y/Q5Jg=="},
      {ChecksumKind::kCrc32c, "4waSgw=="},
      {ChecksumKind::kCrc64Nvme, "rosUhgp5mIg="},
      {ChecksumKind::kSha1, "98O8HYCOBHMq32eZZczDTKeuNEE="},
      {ChecksumKind::kSha256, "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="}};
  for (const auto& [kind, value] : all) {
    const std::string name(field_of(kind));
    const SentBody sent{.fields = {{name, value}}, .bytes = "123456789"};
    expect_content(sent, "123456789");
    const GotBody got = receive(sent);
    ASSERT_TRUE(got.early_checksum);
    EXPECT_EQ(got.early_checksum->kind, kind);
    EXPECT_EQ(got.early_checksum->value, value);
    EXPECT_EQ(receive({.fields = {{name, value}}, .bytes = "123456788"}).outcome(), "BadDigest");
  }
}

TEST(VerifiedBody, HashAndMd5) {
  base::aws::Verified verified;
  verified.payload_hash = base::aws::sha256_hex(kText);
  SentBody sent{
      .payload = Payload::kHash, .bytes = kText, .verified = &verified, .wants_md5 = true};
  expect_content(sent, kText);
  base::aws::RunningDigest md5(base::aws::DigestKind::kMd5);
  md5.add(kText);
  EXPECT_EQ(receive(sent).md5, md5.finish());

  // Nobody has signed it; the hash still counts.
  sent.verified = nullptr;
  sent.fields = {{"x-amz-content-sha256", verified.payload_hash}};
  expect_content(sent, kText);
  sent.bytes.back() = '!';
  EXPECT_EQ(receive(sent).outcome(), "XAmzContentSHA256Mismatch");

  // RFC 1864 is of the content, also where that is wrapped.
  SentBody wrapped = with_trailer("abc", {"3", "abc"});
  wrapped.fields.emplace_back("Content-MD5", "kAFQmDzST7DWlj99KOF/cg==");
  expect_content(wrapped, "abc");
  EXPECT_EQ(receive(wrapped).md5, std::nullopt) << "nobody asked for it";
}

TEST(VerifiedBody, UnsignedChunksWithATrailer) {
  const SentBody sent = with_trailer("hello, world", {"5", "hello", "7", ", world"});
  expect_content(sent, "hello, world");
  const GotBody got = receive(sent);
  EXPECT_EQ(got.declared_bytes, 12U);
  EXPECT_EQ(got.early_checksum, std::nullopt);
  EXPECT_EQ(got.trailer, ChecksumKind::kCrc32);
  ASSERT_TRUE(got.checksum);
  EXPECT_EQ(got.checksum->kind, ChecksumKind::kCrc32);
  EXPECT_EQ(got.checksum->value, crc32_of("hello, world"));
}

// boto3 with a stream that cannot be rewound.
TEST(VerifiedBody, NoLengthAtAll) {
  const SentBody sent =
      without_length(with_trailer("hello, world", {"5", "hello", "7", ", world"}));
  expect_content(sent, "hello, world");
  EXPECT_EQ(receive(sent).declared_bytes, std::nullopt);
}

// The JavaScript SDK spreads one chunk over many pieces of the transfer coding.
TEST(VerifiedBody, OneChunkInManyPieces) {
  const std::string content(1000, 'j');
  const SentBody sent = with_trailer(content, {"3e8", content});
  std::vector<std::size_t> ends{5, 1005};
  for (const std::size_t size : {2U, 3U, 21U}) {
    ends.push_back(ends.back() + size);
  }
  const GotBody got = receive(sent, ends);
  EXPECT_EQ(got.outcome(), "ok");
  EXPECT_EQ(got.content, content);
  ASSERT_EQ(got.pieces.size(), 2U) << "all but the last byte, and that when all was right";
  EXPECT_EQ(got.pieces[1].size(), 1U);
}

TEST(VerifiedBody, PiecesAreNotCutWithoutNeed) {
  // All framing is there when the content is given.
  SentBody sent = with_trailer("abcdef", {"3", "abc", "3", "def"});
  sent.declares = true;
  EXPECT_EQ(receive(sent).pieces, (std::vector<std::string>{"abc", "def"}));
  // More content is known to come.
  const SentBody plain{.fields = {{"x-amz-checksum-crc32", crc32_of(kText)}}, .bytes = kText};
  EXPECT_EQ(receive(plain, 16).pieces,
            (std::vector<std::string>{kText.substr(0, 16), kText.substr(16)}));
}

TEST(VerifiedBody, AFailureOfTheConnectionIsHandedOn) {
  SentBody sent = with_trailer(kText, {"20", kText});
  sent.bytes.resize(20);
  sent.end = base::Error{.kind = base::ErrorKind::kClientGone, .detail = "gone"};
  const GotBody got = receive(sent);
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->kind, base::ErrorKind::kClientGone);
  EXPECT_FALSE(got.reads_on);
}

TEST(VerifiedBody, FieldsOfACompletionSpeakOfTheObject) {
  SentBody sent{.fields = {{"x-amz-checksum-crc32", "AAAAAA==-2"}}, .bytes = "<xml/>"};
  EXPECT_EQ(receive(sent).outcome(), "InvalidRequest");
  sent.fields_are_of_body = false;
  const GotBody got = receive(sent);
  EXPECT_EQ(got.outcome(), "ok");
  EXPECT_EQ(got.checksum, std::nullopt);
}

}  // namespace
}  // namespace fenceline::testing
