#include "base/net/chunked_decoder.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fenceline::base::net {
namespace {

using namespace std::string_literals;

/// What a decoder made of a body given in pieces of `piece_bytes`.
struct Decoded {
  bool failed = false;
  bool finished = false;
  std::string body;
  std::size_t used_bytes = 0;
  friend bool operator==(const Decoded&, const Decoded&) = default;
};

Decoded decode(std::string_view raw, std::size_t piece_bytes) {
  ChunkedDecoder decoder;
  Decoded result;
  for (std::size_t from = 0; from < raw.size(); from += piece_bytes) {
    std::string_view rest = raw.substr(from, piece_bytes);
    while (!rest.empty() && !decoder.finished()) {
      const auto step = decoder.next(rest);
      if (!step) {
        EXPECT_EQ(step.error().kind, ErrorKind::kMalformedRequest);
        EXPECT_FALSE(step.error().detail.empty());
        EXPECT_EQ(decoder.next("0\r\n\r\n").error().detail, step.error().detail);
        result.failed = true;
        result.used_bytes = 0;  // How far a broken body was read depends on the pieces.
        return result;
      }
      EXPECT_GT(step->consumed_bytes, 0U) << "every byte is understood at once";
      result.body += step->piece;
      result.used_bytes += step->consumed_bytes;
      rest.remove_prefix(step->consumed_bytes);
    }
  }
  result.finished = decoder.finished();
  return result;
}

/// Decodes in pieces of every size.
Decoded decode_every_way(std::string_view raw) {
  Decoded whole = decode(raw, raw.size());
  for (std::size_t bytes = 1; bytes < raw.size() && bytes < 64; ++bytes) {
    EXPECT_EQ(decode(raw, bytes), whole) << bytes << " bytes each: " << raw;
  }
  return whole;
}

TEST(ChunkedDecoder, DecodesWhatIsValid) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"0\r\n\r\n", ""},
      {"000\r\n\r\n", ""},
      {"1\r\na\r\n0\r\n\r\n", "a"},
      {"a\r\n0123456789\r\n0\r\n\r\n", "0123456789"},
      {"A\r\n0123456789\r\n0\r\n\r\n", "0123456789"},
      {"00a\r\n0123456789\r\n0\r\n\r\n", "0123456789"},
      {"0000000000000001\r\na\r\n0\r\n\r\n", "a"},
      {"2\r\n\r\n\r\n0\r\n\r\n", "\r\n"},
      {"5\r\n0\r\n\r\n\r\n0\r\n\r\n", "0\r\n\r\n"},
      {"1\r\na\r\n2\r\nbc\r\n3\r\ndef\r\n0\r\n\r\n", "abcdef"},
      {"1;x\r\na\r\n0\r\n\r\n", "a"},
      {"1;x=y;z=\"q\"\r\na\r\n0;last\r\n\r\n", "a"},
      {"1 \t;x\r\na\r\n0\r\n\r\n", "a"},
      {"1;\r\na\r\n0\r\n\r\n", "a"},
      {"0\r\nA: b\r\n\r\n", ""},
      {"0\r\nA:\r\nB: c\r\n\r\n", ""},
      {"1\r\n\0\r\n0\r\n\r\n"s, "\0"s},
  };
  for (const auto& [raw, body] : cases) {
    const Decoded decoded = decode_every_way(raw + "NEXT");
    EXPECT_TRUE(decoded.finished) << raw;
    EXPECT_EQ(decoded.body, body) << raw;
    EXPECT_EQ(decoded.used_bytes, raw.size()) << raw;
  }
}

TEST(ChunkedDecoder, RefusesWhatIsNot) {
  const std::vector<std::string> cases = {
      "\r\n",
      " 1\r\na\r\n",
      "\n",
      "g\r\n",
      "-1\r\na\r\n",
      "+1\r\na\r\n",
      "0x1\r\na\r\n",
      "1_0\r\na\r\n",
      "1,0\r\na\r\n",
      "\"1\"\r\na\r\n",
      ";x\r\n",
      "1 \r\na\r\n",
      "1\t\r\na\r\n",
      "1 x\r\na\r\n",
      "1\na\n0\n\n",
      "1\ra\r\n",
      "1\r\r\na\r\n",
      "1\r\na0\r\n\r\n",
      "1\r\nab\r\n0\r\n\r\n",
      "1\r\na\n0\r\n\r\n",
      "1\r\na\r0\r\n\r\n",
      "1\r\na\r\r\n",
      "1\r\na\r\n\r\n",
      "1;x\ny\r\na\r\n",
      "1;x\0y\r\na\r\n"s,
      "1;x\ry\r\na\r\n",
      "1;\x7f\r\na\r\n",
      "8000000000000000\r\n",
      "ffffffffffffffff\r\n",
      "10000000000000000\r\n",
      "10000000000000001\r\na\r\n",
      "00000000000000001\r\na\r\n",
      "0\n\r\n",
      "0\r\n\n",
      "0\r\n\r0",
      "0\r\n A: b\r\n\r\n",
      "0\r\nA: b\r\n c\r\n\r\n",
      "0\r\nA\r\n\r\n",
      "0\r\nA : b\r\n\r\n",
      "0\r\n: b\r\n\r\n",
      "0\r\nA: b\n\r\n",
      "0\r\nA: b\0\r\n\r\n"s,
      "0\r\nGET / HTTP/1.1\r\n\r\n",
  };
  for (const std::string& raw : cases) {
    const Decoded decoded = decode_every_way(raw);
    EXPECT_TRUE(decoded.failed) << raw;
    EXPECT_FALSE(decoded.finished) << raw;
  }
}

TEST(ChunkedDecoder, TakesTheLargestChunkSize) {
  ChunkedDecoder decoder;
  const auto step = decoder.next("7fffffffffffffff\r\nabc");
  ASSERT_TRUE(step);
  EXPECT_EQ(step->piece, "abc");
  EXPECT_FALSE(step->finished);
}

TEST(ChunkedDecoder, BoundsExtensionsAndTrailersTogether) {
  // Every byte between chunk-size and CRLF counts, and every byte of a trailer line.
  const auto with = [](std::size_t extension, std::size_t trailer) {
    return "1;" + std::string(extension - 1, 'x') +
           "\r\na\r\n0\r\nA:" + std::string(trailer - 2, 'y') + "\r\n\r\n";
  };
  EXPECT_TRUE(decode_every_way(with(4000, 96)).finished);
  EXPECT_TRUE(decode_every_way(with(4000, 97)).failed);
  EXPECT_TRUE(decode_every_way("1;" + std::string(70000, 'x')).failed);
  EXPECT_TRUE(decode_every_way("0\r\nA: " + std::string(70000, 'x')).failed);
  std::string many;
  for (int i = 0; i < 1000; ++i) {
    many += "1;abcd\r\nx\r\n";
  }
  EXPECT_TRUE(decode_every_way(many).failed) << "the bound is for the body, not for a chunk";
}

TEST(ChunkedDecoder, PiecesAreViewsIntoTheBuffer) {
  ChunkedDecoder decoder;
  const std::string raw = "3\r\nabc\r\n";
  const auto step = decoder.next(raw);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->piece.data(), raw.data() + 3);
  EXPECT_EQ(step->consumed_bytes, 6U);
}

TEST(ChunkedDecoder, ResetStartsANewBody) {
  ChunkedDecoder decoder;
  EXPECT_FALSE(decoder.next("x"));
  decoder.reset();
  EXPECT_TRUE(decoder.next("0\r\n\r\n")->finished);
  decoder.reset();
  EXPECT_FALSE(decoder.finished());
  EXPECT_TRUE(decoder.next("0\r\n\r\n")->finished);
}

}  // namespace
}  // namespace fenceline::base::net
