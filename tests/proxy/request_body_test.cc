// Bodies and what follows them: the next request of a connection is never read out of a body.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "proxy/request_parser.h"
#include "tests/proxy/parser_driver.h"

namespace fenceline::proxy::testing {
namespace {

using enum base::ErrorKind;

constexpr std::string_view kSmuggled = "PUT /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

std::string request(std::string_view method, std::string_view fields, std::string_view body) {
  return std::string(method) + " /a HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n" +
         std::string(body);
}

TEST(RequestBody, IsFramedWhateverTheMethod) {
  for (const std::string_view method : {"GET", "HEAD", "PUT", "DELETE", "POST", "PATCH", "BREW"}) {
    const std::string length = "Content-Length: " + std::to_string(kSmuggled.size()) + "\r\n";
    const Outcome sized = drive_every_way(request(method, length, std::string(kSmuggled) + "next"));
    EXPECT_EQ(sized.body, kSmuggled);
    EXPECT_TRUE(sized.body_done);

    const std::string framed = request(method, "Transfer-Encoding: chunked\r\n",
                                       "23\r\n" + std::string(kSmuggled) + "\r\n0\r\n\r\n");
    ASSERT_EQ(kSmuggled.size(), 0x23U);
    const Outcome chunked = drive_every_way(framed + "next");
    EXPECT_EQ(chunked.body, kSmuggled);
    EXPECT_EQ(chunked.used_bytes, framed.size());
  }
}

TEST(RequestBody, IsEmptyWithoutLengthAndCoding) {
  for (const std::string_view method : {"GET", "PUT", "POST", "PATCH"}) {
    const std::string head = request(method, "", "");
    const Outcome outcome = drive_every_way(head + std::string(kSmuggled));
    EXPECT_TRUE(outcome.body_done);
    EXPECT_EQ(outcome.body, "");
    EXPECT_EQ(outcome.used_bytes, head.size());
  }
}

TEST(RequestBody, IsNotDoneBeforeItsLastByte) {
  const std::string sized = request("PUT", "Content-Length: 5\r\n", "hello");
  const std::string chunked =
      request("PUT", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\nX: y\r\n\r\n");
  for (const std::string& whole : {sized, chunked}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Outcome outcome = drive_every_way(whole.substr(0, size));
      EXPECT_FALSE(outcome.body_done) << size;
      EXPECT_FALSE(outcome.error.has_value()) << outcome;
    }
    EXPECT_TRUE(drive_every_way(whole).body_done);
  }
}

TEST(RequestBody, DropsTrailersAndExtensions) {
  const Outcome outcome = drive_every_way(
      request("PUT", "Transfer-Encoding: chunked\r\nTrailer: Fencing-Token\r\n",
              "3;a=b\r\nabc\r\n0;c\r\nFencing-Token: 9\r\nContent-Length: 7\r\n\r\n"));
  EXPECT_TRUE(outcome.body_done) << outcome;
  EXPECT_EQ(outcome.body, "abc");
  EXPECT_EQ(outcome.head.find("<Fencing-Token>="), std::string::npos);
}

TEST(RequestBody, PassesLargeLengthsThroughWithoutCounting) {
  RequestParser parser(HeadLimits{});
  const std::string head = request("PUT", "Content-Length: 9223372036854775807\r\n", "");
  ASSERT_TRUE(parser.parse_head(head).value().has_value());
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 4; ++i) {
    const auto step = parser.parse_body(piece);
    ASSERT_TRUE(step);
    EXPECT_EQ(step->piece.data(), piece.data());
    EXPECT_EQ(step->consumed_bytes, piece.size());
    EXPECT_FALSE(step->finished);
  }
}

/// Reads all requests of one connection from a buffer with one parser.
std::vector<std::string> read_connection(std::string_view stream, std::size_t read_bytes) {
  RequestParser parser(HeadLimits{});
  std::vector<std::string> seen;
  std::string buffer;
  bool in_body = false;
  for (std::size_t from = 0; from < stream.size(); from += read_bytes) {
    buffer += stream.substr(from, read_bytes);
    for (bool stuck = false; !stuck;) {
      if (!in_body) {
        const auto size = parser.parse_head(buffer);
        if (!size) {
          seen.push_back("error " + std::string(base::name_of(size.error().kind)));
          return seen;
        }
        stuck = !*size;
        if (!stuck) {
          buffer.erase(0, **size);
          seen.push_back(std::string(parser.head().target) + " ");
          in_body = true;
        }
      } else if (parser.body_finished()) {
        parser.reset();
        in_body = false;
      } else {
        const auto step = parser.parse_body(buffer);
        if (!step) {
          seen.push_back("error " + std::string(base::name_of(step.error().kind)));
          return seen;
        }
        seen.back() += step->piece;
        stuck = step->consumed_bytes == 0;
        buffer.erase(0, step->consumed_bytes);
      }
    }
  }
  return seen;
}

TEST(Pipelining, EveryRequestIsReadOnceAndInOrder) {
  const std::string stream =
      "PUT /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nGE"
      "\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n"
      "PUT /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nT /x\r\n0\r\n\r\n"
      "PUT /4 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
      "PUT /5 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n"
      "HEAD /6?x HTTP/1.0\r\n\r\n"
      "GET /7 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"
      "GET /never HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::vector<std::string> expected = {
      "/1 GE", "/2 ", "/3 T /x", "/4 ", "/5 ", "/6?x ", "error not-implemented"};
  for (std::size_t bytes = 1; bytes <= stream.size(); ++bytes) {
    EXPECT_EQ(read_connection(stream, bytes), expected) << bytes;
  }
}

TEST(Reset, ForgetsTheRequestBefore) {
  RequestParser parser(HeadLimits{});
  const std::string first =
      "PUT /1?q HTTP/1.0\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
  ASSERT_TRUE(parser.parse_head(first).value().has_value());
  parser.reset();
  EXPECT_TRUE(parser.head().fields.empty());
  EXPECT_TRUE(parser.body_finished());
  ASSERT_TRUE(parser.parse_head("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n").value().has_value());
  EXPECT_EQ(parser.head().query, "");
  EXPECT_EQ(parser.head().content_length, std::nullopt);
  EXPECT_TRUE(parser.head().keep_alive);
  EXPECT_EQ(parser.head().method, base::Method::kGet);
  EXPECT_EQ(parser.head().fields.size(), 1U);
}

}  // namespace
}  // namespace fenceline::proxy::testing
