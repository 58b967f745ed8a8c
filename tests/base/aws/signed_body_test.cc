// Bodies whose chunks are signed, by the examples that AWS has published.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/aws/verified_body.h"
#include "tests/base/aws/body_fixture.h"
#include "tests/base/aws/wire_lines.h"

namespace fenceline::testing {
namespace {

using base::aws::Payload;
using base::aws::Verified;

/// The content of both examples.
const std::string kContent(65536 + 1024, 'a');

constexpr std::string_view kSeed =
    "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";
constexpr std::string_view kTrailerSeed =
    "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e";

std::string chunks(std::string_view first, std::string_view second, std::string_view last) {
  const std::string_view content = kContent;
  return lines({"10000;chunk-signature=" + std::string(first), content.substr(0, 65536),
                "400;chunk-signature=" + std::string(second), content.substr(65536),
                "0;chunk-signature=" + std::string(last)});
}

SentBody published(const Verified& verified) {
  return {
      .payload = Payload::kSignedChunks,
      .fields = {{"Content-Encoding", "aws-chunked"}, {"x-amz-decoded-content-length", "66560"}},
      .bytes = chunks("ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648",
                      "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497",
                      "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9") +
               "\r\n",
      .verified = &verified};
}

SentBody published_with_trailer(const Verified& verified) {
  return {.payload = Payload::kSignedTrailer,
          .fields = {{"Content-Encoding", "aws-chunked"},
                     {"x-amz-decoded-content-length", "66560"},
                     {"x-amz-trailer", "x-amz-checksum-crc32c"}},
          .bytes = chunks("b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2",
                          "1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7",
                          "2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992") +
                   lines({"x-amz-checksum-crc32c:sOO8/Q==",
                          "x-amz-trailer-signature:"
                          "d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435",
                          ""}),
          .verified = &verified};
}

TEST(SignedBody, ThePublishedChunks) {
  const Verified verified = example_of_chunks(kSeed);
  const SentBody sent = published(verified);
  EXPECT_EQ(sent.bytes.size(), 66824U) << "the Content-Length of the example";
  for (const std::size_t step :
       {std::size_t{1}, std::size_t{7}, std::size_t{4096}, sent.bytes.size()}) {
    const GotBody got = receive(sent, step);
    ASSERT_EQ(got.outcome(), "ok") << got.error->detail;
    EXPECT_EQ(got.content, kContent);
    EXPECT_EQ(got.declared_bytes, kContent.size());
  }
}

TEST(SignedBody, ThePublishedTrailer) {
  const Verified verified = example_of_chunks(kTrailerSeed);
  for (const std::size_t step : {1, 4096, 1 << 20}) {
    const GotBody got = receive(published_with_trailer(verified), step);
    ASSERT_EQ(got.outcome(), "ok") << got.error->detail;
    EXPECT_EQ(got.content, kContent);
    ASSERT_TRUE(got.checksum);
    EXPECT_EQ(got.checksum->value, "sOO8/Q==");
  }
}

/// Short bodies, so that every byte can be tried.
const std::string kText = "a storage service that is fenced";

SentBody small(const Verified& verified, bool with_trailer) {
  const std::string trailer = "x-amz-checksum-crc32:" + crc32_of(kText);
  SentBody sent{.payload = with_trailer ? Payload::kSignedTrailer : Payload::kSignedChunks,
                .fields = {{"x-amz-decoded-content-length", "32"}},
                .bytes = signed_chunks(kText, {20, 12}, verified, with_trailer ? trailer : ""),
                .verified = &verified,
                .declares = false};
  if (with_trailer) {
    sent.fields.emplace_back("x-amz-trailer", "x-amz-checksum-crc32");
  }
  return sent;
}

TEST(SignedBody, EveryCut) {
  const Verified verified = example_of_chunks(kSeed);
  for (const bool with_trailer : {false, true}) {
    const SentBody sent = small(verified, with_trailer);
    for (std::size_t step = 1; step <= sent.bytes.size(); ++step) {
      const GotBody got = receive(sent, step);
      ASSERT_EQ(got.outcome(), "ok") << got.error->detail;
      ASSERT_EQ(got.content, kText);
    }
  }
}

TEST(SignedBody, NoByteCanBeChanged) {
  const Verified verified = example_of_chunks(kSeed);
  for (const bool with_trailer : {false, true}) {
    const SentBody sent = small(verified, with_trailer);
    for (std::size_t at = 0; at < sent.bytes.size(); ++at) {
      SentBody changed = sent;
      changed.bytes[at] ^= 0x01;
      for (const std::size_t step : {std::size_t{1}, sent.bytes.size()}) {
        const GotBody got = receive(changed, step);
        ASSERT_TRUE(got.error) << "byte " << at;
        ASSERT_LT(got.content.size(), kText.size()) << "byte " << at;
        ASSERT_FALSE(got.reads_on);
      }
    }
  }
}

void expect_wrong_signature(const SentBody& sent) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{64}, sent.bytes.size()}) {
    const GotBody got = receive(sent, step);
    ASSERT_EQ(got.outcome(), "SignatureDoesNotMatch");
    EXPECT_EQ(got.error->kind, base::ErrorKind::kForbidden);
    EXPECT_LT(got.content.size(), kText.size());
  }
}

TEST(SignedBody, AnotherKeySeedOrContent) {
  const Verified verified = example_of_chunks(kSeed);
  for (const bool with_trailer : {false, true}) {
    SentBody sent = small(verified, with_trailer);
    Verified other = verified;
    other.key[0] ^= 1;
    sent.verified = &other;
    expect_wrong_signature(sent);
    other = verified;
    other.seed_signature[0] = 'f';
    expect_wrong_signature(sent);
    other = verified;
    other.timestamp = "20130524T000001Z";
    expect_wrong_signature(sent);

    SentBody tampered = small(verified, with_trailer);
    tampered.bytes.replace(tampered.bytes.find("storage"), 7, "garbage");
    expect_wrong_signature(tampered);
  }
}

TEST(SignedBody, ATamperedTrailer) {
  const Verified verified = example_of_chunks(kSeed);
  SentBody sent = small(verified, true);
  const std::size_t value = sent.bytes.find("crc32:") + 6;
  sent.bytes.replace(value, 8, crc32_of("x"));
  expect_wrong_signature(sent);
}

// Chunks of one body in another order, or the first left out: the chain is broken.
TEST(SignedBody, ChunksHaveTheirPlace) {
  const Verified verified = example_of_chunks(kSeed);
  const std::size_t framing = std::string_view("10;chunk-signature=\r\n\r\n").size() + 64;
  SentBody sent = small(verified, false);
  sent.bytes = signed_chunks(kText, {16, 16}, verified);
  const std::size_t size = framing + 16;
  ASSERT_EQ(receive(sent).outcome(), "ok");
  SentBody swapped = sent;
  swapped.bytes =
      sent.bytes.substr(size, size) + sent.bytes.substr(0, size) + sent.bytes.substr(2 * size);
  expect_wrong_signature(swapped);
  sent.fields.clear();  // Otherwise it is the length that is wrong.
  SentBody shorter = sent;
  shorter.bytes.erase(size, size);
  expect_wrong_signature(shorter);
  SentBody none = sent;
  none.bytes.erase(0, 2 * size);
  expect_wrong_signature(none);
}

}  // namespace
}  // namespace fenceline::testing
