// Chunked bodies (RFC 9112, 7.1): sizes, extensions, line ends, trailers.

#include <gtest/gtest.h>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

class WireChunkedTest : public WireTest {
 protected:
  /// A body that must be refused, with requests after it.
  static WireCase refused(std::string name, const std::string& body, int status = 400,
                          std::string problem = "malformed-request") {
    return {std::move(name),
            put("/exports/acme/target", kCoding, body + smuggled()),
            {status},
            After::kClosed,
            std::move(problem)};
  }

  static std::string chunked_put(const std::string& body) {
    return put("/exports/acme/stored", kCoding, body);
  }

  void SetUp() override { ASSERT_NE(write("/exports/acme/stored", "old"), ""); }

  static constexpr std::string_view kCoding = "Transfer-Encoding: chunked\r\n";
};

TEST_F(WireChunkedTest, Sizes) {
  const std::string zeros(64, '0');
  run({
      refused("empty", "\r\n\r\n"),
      refused("minus", "-4\r\nabcd\r\n0\r\n\r\n"),
      refused("plus", "+4\r\nabcd\r\n0\r\n\r\n"),
      refused("prefix", "0x4\r\nabcd\r\n0\r\n\r\n"),
      refused("no digit", "g\r\nabcd\r\n0\r\n\r\n"),
      refused("blank before", " 4\r\nabcd\r\n0\r\n\r\n"),
      refused("blank between", "4 4\r\nabcd\r\n0\r\n\r\n"),
      refused("underscore", "0_4\r\nabcd\r\n0\r\n\r\n"),
      refused("comma", "4,4\r\nabcd\r\n0\r\n\r\n"),
      refused("2^64", "10000000000000000\r\nabcd\r\n0\r\n\r\n"),
      refused("2^64 + 4", "10000000000000004\r\nabcd\r\n0\r\n\r\n"),
      refused("full-width digit", "\xEF\xBC\x94\r\nabcd\r\n0\r\n\r\n"),
      refused("NUL", std::string("4\0\r\nabcd\r\n0\r\n\r\n", 15)),
      refused("2^64 - 1", "FFFFFFFFFFFFFFFF\r\nabcd\r\n0\r\n\r\n"),
      refused("2^63", "8000000000000000\r\nabcd\r\n0\r\n\r\n"),
      {"above the limit of the route",
       put("/small/target", kCoding, chunked(repeat(smuggled(), 6))),
       {413},
       After::kKept,
       "body-too-large"},
      {"above the limit of the route, in many chunks",
       put("/small/target", kCoding, repeat("5\r\nabcde\r\n", 205) + chunked(smuggled())),
       {413},
       After::kKept,
       "body-too-large"},
  });
  EXPECT_EQ(content("exports/acme/target"), std::nullopt);
}

TEST_F(WireChunkedTest, LineEnds) {
  run({
      refused("LF after the size", "4\nabcd\r\n0\r\n\r\n"),
      refused("CR after the size", "4\rabcd\r\n0\r\n\r\n"),
      refused("two CR after the size", "4\r\r\nabcd\r\n0\r\n\r\n"),
      refused("LF after the data", "4\r\nabcd\n0\r\n\r\n"),
      refused("nothing after the data", "4\r\nabcd0\r\n\r\n"),
      refused("more data than the size", "4\r\nabcdefgh\r\n0\r\n\r\n"),
      refused("LF after the last size", "4\r\nabcd\r\n0\n\r\n"),
      refused("LF at the end", "4\r\nabcd\r\n0\r\n\n"),
      refused("CR at the end", "4\r\nabcd\r\n0\r\n\rX"),
      refused("LF in an extension", "4;a\nb\r\nabcd\r\n0\r\n\r\n"),
      refused("CR in an extension", "4;a\rb\r\nabcd\r\n0\r\n\r\n"),
      refused("LF in a quoted extension", "4;a=\"\n\"\r\nabcd\r\n0\r\n\r\n"),
  });
}

TEST_F(WireChunkedTest, Extensions) {
  run({
      refused("64 KiB", "4;a=" + std::string(65536, 'x') + "\r\nabcd\r\n0\r\n\r\n"),
      refused("64 KiB after the last size",
              "4\r\nabcd\r\n0;a=" + std::string(65536, 'x') + "\r\n\r\n"),
      refused("NUL", std::string("4;a\0b\r\nabcd\r\n0\r\n\r\n", 18)),
      {"a name", chunked_put("4;a\r\nabcd\r\n0\r\n\r\n"), {204}},
      {"a value", chunked_put("4;a=b;c=d\r\nabcd\r\n0;e=f\r\n\r\n"), {204}},
      {"a quoted value", chunked_put("4;a=\"b;\\\"c\"\r\nabcd\r\n0\r\n\r\n"), {204}},
  });
  EXPECT_EQ(content("exports/acme/stored"), "abcd");
}

TEST_F(WireChunkedTest, SizesThatAreRight) {
  run({
      {"letters in both cases",
       chunked_put("a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n"),
       {204}},
      {"leading zeros", chunked_put("0004\r\nabcd\r\n000\r\n\r\n"), {204}},
      {"one byte each", chunked_put(repeat("1\r\nx\r\n", 3000) + "0\r\n\r\n"), {204}},
      {"nothing", put("/exports/acme/empty", kCoding, "0\r\n\r\n"), {201}},
  });
  EXPECT_EQ(content("exports/acme/stored"), std::string(3000, 'x'));
  EXPECT_EQ(content("exports/acme/empty"), "");
}

TEST_F(WireChunkedTest, TrailersThatAreRefused) {
  const std::string start = "4\r\nabcd\r\n0\r\n";
  run({
      refused("a value above 64 KiB", start + "X: " + std::string(70000, 'x') + "\r\n\r\n"),
      refused("above 64 KiB in all",
              start + repeat("X-Y: " + std::string(60, 'x') + "\r\n", 1200) + "\r\n"),
      refused("a name above 64 KiB", start + std::string(70000, 'x') + ": x\r\n\r\n"),
      refused("no colon", start + "abc\r\n\r\n"),
      refused("blank before the colon", start + "a : b\r\n\r\n"),
      refused("continued line", start + "a: b\r\n c\r\n\r\n"),
      refused("LF", start + "a: b\n\r\n"),
      refused("NUL", start + std::string("a: b\0c\r\n\r\n", 10)),
  });
  EXPECT_EQ(content("exports/acme/target"), std::nullopt);
}

TEST_F(WireChunkedTest, TrailersAreDropped) {
  const std::string start = "4\r\nabcd\r\n0\r\n";
  const std::string without_token =
      "PUT /exports/acme/target HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
      "Trailer: Fencing-Token\r\n\r\n";
  run({
      {"a field", chunked_put(start + "Checksum: 1\r\n\r\n"), {204}},
      {"a newer token", chunked_put(start + "Fencing-Token: 99\r\n\r\n"), {204}},
      {"an older token", chunked_put(start + "Fencing-Token: 3\r\n\r\n"), {204}},
      {"another length", chunked_put(start + "Content-Length: 400\r\n\r\n"), {204}},
      {"a coding", chunked_put(start + "Transfer-Encoding: gzip\r\n\r\n"), {204}},
      {"a precondition", chunked_put(start + "If-Match: \"never\"\r\n\r\n"), {204}},
      {"the only token",
       without_token + start + "Fencing-Token: 34\r\n\r\n",
       {428},
       After::kKept,
       "token-required"},
  });
  EXPECT_EQ(content("exports/acme/target"), std::nullopt);
  EXPECT_EQ(content("exports/acme/stored"), "abcd");
}

TEST_F(WireChunkedTest, TruncatedBodiesAreNotStored) {
  for (const char* body :
       {"4\r\nabc", "4\r\nabcd\r\n", "4\r\nabcd\r\n0\r\n", "4\r\nabcd\r\n0\r\nX: y\r\n", "4"}) {
    SCOPED_TRACE(body);
    RawClient client(server().port());
    client.send(put("/exports/acme/cut", kCoding, body));
    client.shutdown_write();
    client.receive_to_end();
    EXPECT_EQ(content("exports/acme/cut"), std::nullopt);
    expect_unharmed();
  }
  RawClient client(server().port());
  client.send(put("/exports/acme/cut", "Content-Length: 5\r\n", "abcd"));
  client.shutdown_write();
  client.receive_to_end();
  EXPECT_EQ(content("exports/acme/cut"), std::nullopt);
  expect_unharmed();
}

}  // namespace
}  // namespace fenceline::testing
