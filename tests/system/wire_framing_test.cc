// Transfer-Encoding and Content-Length (RFC 9112, 6): whoever reads the length of a body otherwise
// than the peer does executes what was only data. Every body here holds requests.

#include <gtest/gtest.h>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

constexpr After kKept = After::kKept;
constexpr After kClosed = After::kClosed;

class WireFramingTest : public WireTest {};

/// A refused request to `acme/target` with `fields`, whose body is `smuggled()` in one chunk.
WireCase refused(std::string name, std::string_view fields, int status = 400,
                 std::string problem = "malformed-request") {
  return {std::move(name),
          put("/exports/acme/target", fields, chunked(smuggled())),
          {status},
          kClosed,
          std::move(problem)};
}

/// As above, with `fields` that declare a length, whose body is not chunked.
WireCase refused_length(std::string name, std::string_view fields, int status = 400,
                        std::string problem = "malformed-request") {
  return {std::move(name),
          put("/exports/acme/target", fields, smuggled()),
          {status},
          kClosed,
          std::move(problem)};
}

TEST_F(WireFramingTest, TransferEncodings) {
  run({
      refused("unknown coding", "Transfer-Encoding: gzip\r\n", 501, "not-implemented"),
      refused("identity", "Transfer-Encoding: identity\r\n", 501, "not-implemented"),
      refused("nearly chunked", "Transfer-Encoding: xchunked\r\n", 501, "not-implemented"),
      refused("chunked, and more letters", "Transfer-Encoding: chunkedx\r\n", 501,
              "not-implemented"),
      refused("empty", "Transfer-Encoding:\r\n"),
      refused("blank", "Transfer-Encoding:   \r\n"),
      refused("parameter", "Transfer-Encoding: chunked;x=1\r\n"),
      refused("chunked is not the last", "Transfer-Encoding: chunked, gzip\r\n"),
      refused("chunked twice", "Transfer-Encoding: chunked, chunked\r\n"),
      refused("chunked after gzip", "Transfer-Encoding: gzip, chunked\r\n", 501, "not-implemented"),
      refused("empty list members", "Transfer-Encoding: ,chunked,\r\n"),
      refused("quoted", "Transfer-Encoding: \"chunked\"\r\n"),
      refused("vertical tab", "Transfer-Encoding: \vchunked\r\n"),
      refused("two fields", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
      refused("two fields that differ",
              "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
      refused("two fields, in different case",
              "Transfer-Encoding: identity\r\ntransfer-encoding: chunked\r\n"),
      refused("blank before the colon", "Transfer-Encoding : chunked\r\n"),
      refused("tab before the colon", "Transfer-Encoding\t: chunked\r\n"),
      refused("continued on the next line", "Transfer-Encoding:\r\n chunked\r\n"),
      refused("in a continued line", "X-A: b\r\n Transfer-Encoding: chunked\r\n"),
  });
}

TEST_F(WireFramingTest, TransferEncodingBesideALength) {
  const std::string length = "Content-Length: 4\r\n";
  const std::string coding = "Transfer-Encoding: chunked\r\n";
  run({
      refused("length, then coding", length + coding),
      refused("coding, then length", coding + length),
      refused("length 0 and coding", "Content-Length: 0\r\n" + coding),
      refused("an unknown coding and a length", "Transfer-Encoding: identity\r\n" + length),
      refused("an empty coding and a length", "Transfer-Encoding:\r\n" + length),
  });
}

TEST_F(WireFramingTest, TransferEncodingInHttp10) {
  const std::string start = "PUT /exports/acme/target HTTP/1.0\r\nFencing-Token: 34\r\n";
  const std::string body = chunked(smuggled());
  run({
      {"chunked",
       start + "Transfer-Encoding: chunked\r\n\r\n" + body,
       {400},
       kClosed,
       "malformed-request"},
      {"chunked, and a wish to keep the connection",
       start + "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n" + body,
       {400},
       kClosed,
       "malformed-request"},
  });
}

TEST_F(WireFramingTest, Lengths) {
  run({
      refused_length("plus", "Content-Length: +4\r\n"),
      refused_length("minus", "Content-Length: -4\r\n"),
      refused_length("hexadecimal", "Content-Length: 0x4\r\n"),
      refused_length("fraction", "Content-Length: 4.0\r\n"),
      refused_length("exponent", "Content-Length: 4e0\r\n"),
      refused_length("empty", "Content-Length:\r\n"),
      refused_length("two numbers", "Content-Length: 4 4\r\n"),
      refused_length("list that differs", "Content-Length: 0, 4\r\n"),
      refused_length("parameter", "Content-Length: 4;x\r\n"),
      refused_length("quoted", "Content-Length: \"4\"\r\n"),
      refused_length("2^64", "Content-Length: 18446744073709551616\r\n"),
      refused_length("2^64 + 4", "Content-Length: 18446744073709551620\r\n"),
      refused_length("2^128", "Content-Length: 340282366920938463463374607431768211456\r\n"),
      refused_length("full-width digit", "Content-Length: \xEF\xBC\x94\r\n"),
      refused_length("vertical tab", "Content-Length: 4\v\r\n"),
      refused_length("a list of the same", "Content-Length: 4, 4\r\n"),
      refused_length("two fields of the same", "Content-Length: 4\r\nContent-Length: 4\r\n"),
      refused_length("two fields that differ", "Content-Length: 4\r\nContent-Length: 0\r\n"),
      refused_length("blank before the colon", "Content-Length : 4\r\n"),
      refused_length("continued on the next line", "Content-Length: 4\r\n 0\r\n"),
      refused_length("above the limit of the route", "Content-Length: 1073741825\r\n", 413,
                     "body-too-large"),
      refused_length("2^63 - 1", "Content-Length: 9223372036854775807\r\n", 413, "body-too-large"),
  });
}

TEST_F(WireFramingTest, LengthsThatAreRight) {
  const std::string body = smuggled();
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  run({
      {"plain", put("/exports/acme/t1", length, body), {201}},
      {"in HTTP/1.0",
       "PUT /exports/acme/t2 HTTP/1.0\r\nFencing-Token: 34\r\n" + length + "\r\n" + body,
       {201},
       After::kEnds},
      {"in HTTP/1.0, kept alive",
       "PUT /exports/acme/t3 HTTP/1.0\r\nFencing-Token: 34\r\nConnection: keep-alive\r\n" + length +
           "\r\n" + body,
       {201}},
      {"any case, any blanks",
       put("/exports/acme/t4", "cOnTeNt-LeNgTh: \t " + std::to_string(body.size()) + " \t\r\n",
           body),
       {201}},
      {"chunked", put("/exports/acme/t5", "Transfer-Encoding: chunked\r\n", chunked(body)), {201}},
      {"chunked in any case",
       put("/exports/acme/t6", "tRANSFER-eNCODING:\tChUnKeD \r\n", chunked(body)),
       {201}},
      {"a field that only looks like a coding",
       put("/exports/acme/t7", "Transfer_Encoding: chunked\r\n" + length, body),
       {201}},
      {"closed on wish",
       put("/exports/acme/t8", "Connection: close\r\n" + length, body),
       {201},
       kClosed},
      {"closed on wish, among others",
       put("/exports/acme/t9", "Connection: x, Close\r\n" + length, body),
       {201},
       kClosed},
  });
  for (const char* name : {"t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9"}) {
    EXPECT_EQ(content(std::string("exports/acme/") + name), body) << name;
  }
}

TEST_F(WireFramingTest, WritesWithoutALength) {
  // RFC 9112, 6.3: without both fields there is no body; an origin server may ask for a length.
  run({{"no length", put("/exports/acme/none", "", ""), {411}, kClosed, "length-required"}});
  EXPECT_EQ(content("exports/acme/none"), std::nullopt);
}

TEST_F(WireFramingTest, RequestsWithoutUseForTheirBody) {
  // The body of a GET is data, too: it is drained or the connection is closed, never executed.
  const std::string body = smuggled();
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  const std::string chunked_get =
      get("/exports/acme/canary", "Transfer-Encoding: chunked\r\n") + chunked(body);
  const std::vector<std::string> requests = {get("/exports/acme/canary", length) + body,
                                             chunked_get,
                                             remove("/exports/acme/missing", length) + body};
  for (const std::string& request : requests) {
    RawClient client(server().port());
    client.send(request);
    client.send(get("/shown/nothing"));
    const Response first = client.receive();
    EXPECT_TRUE(first.status == 200 || first.status == 404 || first.status == 400) << first.status;
    if (first.field("Connection") == "close") {
      EXPECT_EQ(client.receive_to_end(), "");
    } else {
      EXPECT_EQ(client.receive().status, 404);
      expect_after(client, first, kKept);
    }
    expect_unharmed();
  }
}

}  // namespace
}  // namespace fenceline::testing
