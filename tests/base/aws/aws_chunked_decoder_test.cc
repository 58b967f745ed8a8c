#include "base/aws/aws_chunked_decoder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/base/aws/wire_lines.h"

namespace fenceline::testing {
namespace {

using base::aws::AwsChunkedDecoder;
using base::aws::AwsChunkedForm;
using base::aws::AwsChunkedStep;
using Event = AwsChunkedStep::Event;

constexpr std::string_view kName = "x-amz-checksum-crc32";
const AwsChunkedForm kUnsigned{.is_signed = false, .has_trailer = true, .announced = {}};
const AwsChunkedForm kWithTrailer{
    .is_signed = false, .has_trailer = true, .announced = {std::string(kName)}};
const AwsChunkedForm kSigned{.is_signed = true, .has_trailer = false, .announced = {}};
const AwsChunkedForm kSignedTrailer{
    .is_signed = true, .has_trailer = true, .announced = {std::string(kName)}};

const std::string kA(64, 'a');
const std::string kB(64, 'b');

/// Everything that a decoder says about `bytes`, as text; the same for every cut into reads.
std::string decode(const AwsChunkedForm& form, std::string_view bytes, std::size_t step) {
  AwsChunkedDecoder decoder(form);
  std::string said;
  std::string buffer;
  std::size_t left_over = bytes.size();
  while (true) {
    const auto next = decoder.next(buffer);
    if (!next) {
      return said + "[" + std::string(next.error().code) + "]";
    }
    said += next->piece;
    buffer.erase(0, next->consumed_bytes);
    if (next->event == Event::kChunkEnd) {
      said += "|" + std::string(decoder.chunk_signature().substr(0, 1));
    } else if (next->event == Event::kBodyEnd) {
      for (const auto& [name, value] : decoder.trailers()) {
        said += "(" + name + "=" + value + ")";
      }
      said += "." + std::string(decoder.trailer_signature().substr(0, 1));
      left_over += buffer.size();
      return said + (left_over == 0 ? "" : "+" + std::to_string(left_over));
    } else if (next->piece.empty()) {
      if (left_over == 0) {
        return said + "…";
      }
      const std::size_t more = std::min(step, left_over);
      buffer += bytes.substr(bytes.size() - left_over, more);
      left_over -= more;
    }
  }
}

std::string decode(const AwsChunkedForm& form, std::string_view bytes) {
  const std::string said = decode(form, bytes, bytes.size());
  for (std::size_t step = 1; step < bytes.size(); ++step) {
    EXPECT_EQ(decode(form, bytes, step), said) << bytes << "\nin pieces of " << step;
  }
  return said;
}

TEST(AwsChunked, EveryForm) {
  EXPECT_EQ(decode(kUnsigned, lines({"5", "hello", "0", ""})), "hello||.");
  EXPECT_EQ(decode(kUnsigned, lines({"3", "a\r\n", "00A", "0123456789", "0", ""})),
            "a\r\n|0123456789||.");
  EXPECT_EQ(decode(kUnsigned, lines({"0", ""})), "|.");
  EXPECT_EQ(decode(kWithTrailer, lines({"1", "x", "0", "x-amz-checksum-crc32:AAAA", ""})),
            "x||(x-amz-checksum-crc32=AAAA).");
  EXPECT_EQ(decode(kWithTrailer, lines({"0", "X-Amz-Checksum-CRC32: \tAAAA ", ""})),
            "|(x-amz-checksum-crc32=AAAA).");
  EXPECT_EQ(decode(kSigned, lines({"1;chunk-signature=" + kA, "x", "0;chunk-signature=" + kB, ""})),
            "x|a|b.");
  EXPECT_EQ(decode(kSignedTrailer,
                   lines({"1;chunk-signature=" + kA, "x", "0;chunk-signature=" + kB,
                          "x-amz-checksum-crc32:AAAA", "x-amz-trailer-signature:" + kA, ""})),
            "x|a|b(x-amz-checksum-crc32=AAAA).a");
}

TEST(AwsChunked, TakesNothingBehindTheEnd) {
  EXPECT_EQ(decode(kUnsigned, lines({"0", "", "0", ""}), 100), "|.+5");
}

TEST(AwsChunked, IsNotCompleteBeforeItsLastByte) {
  const std::string whole = lines({"2", "xy", "0", "x-amz-checksum-crc32:AAAA", ""});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_TRUE(decode(kWithTrailer, whole.substr(0, size), 100).ends_with("…")) << size;
  }
}

TEST(AwsChunked, SizesThatAreNone) {
  for (const std::string_view size :
       {"", " 1", "1 ", "g", "-1", "+1", "0x1", "1,", "00000000000000001", "8000000000000000",
        "ffffffffffffffff", "1;chunk-signature=", "1;a=b", "1;"}) {
    EXPECT_EQ(decode(kUnsigned, lines({size, "x", "0", ""})), "[InvalidRequest]") << size;
  }
  EXPECT_EQ(decode(kUnsigned, lines({"7fffffffffffffff", "x"})), "x\r\n…");
  EXPECT_EQ(decode(kUnsigned, lines({"0000000000000001", "x", "0", ""})), "x||.");
}

TEST(AwsChunked, LinesAndChunksEndInCrLf) {
  EXPECT_EQ(decode(kUnsigned, "1\nx\r\n0\r\n\r\n"), "[InvalidRequest]");
  EXPECT_EQ(decode(kUnsigned, "1\r\r\nx\r\n0\r\n\r\n"), "[InvalidRequest]");
  EXPECT_EQ(decode(kUnsigned, "1\r\nx\n0\r\n\r\n"), "x[InvalidRequest]");
  EXPECT_EQ(decode(kUnsigned, "1\r\nxy\r\n0\r\n\r\n"), "x[InvalidRequest]");
  EXPECT_EQ(decode(kUnsigned, "2\r\nx\r\n0\r\n\r\n"), "x\r[InvalidRequest]");
  EXPECT_EQ(decode(kUnsigned, "0\r\n\n"), "|[InvalidRequest]");
  EXPECT_EQ(decode(kWithTrailer, "0\r\nx-amz-checksum-crc32:A\nx:y\r\n"), "|[InvalidRequest]");
  EXPECT_EQ(decode(kUnsigned, "0\r\n\rx"), "|[InvalidRequest]");
}

TEST(AwsChunked, SignaturesThatAreNone) {
  const std::string upper = "A" + kA.substr(1);
  for (const std::string& extension :
       {std::string(), ";chunk-signature=" + kA.substr(1), ";chunk-signature=" + kA + "a",
        ";chunk-signature=" + upper, ";chunk-signature=" + kA + ";chunk-signature=" + kA,
        ";a=b;chunk-signature=" + kA, "; chunk-signature=" + kA, ";Chunk-Signature=" + kA}) {
    EXPECT_EQ(decode(kSigned, lines({"0" + extension, ""})), "[InvalidRequest]") << extension;
  }
}

TEST(AwsChunked, OnlyTheAnnouncedTrailersOnce) {
  const auto with = [](const AwsChunkedForm& form, const std::vector<std::string_view>& trailer) {
    const std::string first = form.is_signed ? "0;chunk-signature=" + kA : "0";
    return decode(form, lines({first}) + lines(trailer) + "\r\n");
  };
  constexpr std::string_view kGood = "x-amz-checksum-crc32:AAAA";
  const std::string signature = "x-amz-trailer-signature:" + kB;
  constexpr std::string_view kRefused = "[MalformedTrailerError]";
  EXPECT_EQ(with(kWithTrailer, {}), "|[MalformedTrailerError]") << "announced and missing";
  EXPECT_EQ(with(kWithTrailer, {kGood, kGood}), "|[MalformedTrailerError]");
  EXPECT_EQ(with(kWithTrailer, {kGood, "x-amz-checksum-sha1:AAAA"}), "|[MalformedTrailerError]");
  EXPECT_EQ(with(kUnsigned, {kGood}), "|[MalformedTrailerError]") << "not announced";
  EXPECT_EQ(with(kWithTrailer, {kGood, signature}), "|[MalformedTrailerError]");
  for (const std::string_view broken :
       {"x-amz-checksum-crc32", ":AAAA", "x-amz-checksum-crc32 :AAAA", " x-amz-checksum-crc32:AAAA",
        "x-amz-checksum-crc32:A\x01"}) {
    EXPECT_TRUE(with(kWithTrailer, {broken}).ends_with(kRefused)) << broken;
  }
  EXPECT_EQ(with(kSigned, {kGood}), "|a[MalformedTrailerError]") << "this form has no trailer";
  EXPECT_EQ(with(kSignedTrailer, {kGood}), "|a[MalformedTrailerError]") << "not signed";
  EXPECT_EQ(with(kSignedTrailer, {signature}), "|a[MalformedTrailerError]");
  EXPECT_EQ(with(kSignedTrailer, {signature, kGood}), "|a[MalformedTrailerError]");
  EXPECT_EQ(with(kSignedTrailer, {kGood, signature, signature}), "|a[MalformedTrailerError]");
  EXPECT_EQ(with(kSignedTrailer, {kGood, "x-amz-trailer-signature:abc"}),
            "|a[MalformedTrailerError]");
  EXPECT_EQ(with(kSignedTrailer, {kGood, signature}), "|a(x-amz-checksum-crc32=AAAA).b");
}

TEST(AwsChunked, LinesHaveALimit) {
  const std::string head = "x-amz-checksum-crc32:";
  const std::size_t most = AwsChunkedDecoder::kMaxLineBytes;
  const std::string longest = head + std::string(most - head.size(), 'A');
  EXPECT_TRUE(decode(kWithTrailer, lines({"0", longest, ""}), 999).ends_with("A)."));
  EXPECT_EQ(decode(kWithTrailer, lines({"0", longest + "A", ""}), 999), "|[InvalidRequest]");
  EXPECT_EQ(decode(kUnsigned, std::string(most + 1, '0')), "[InvalidRequest]");
}

}  // namespace
}  // namespace fenceline::testing
