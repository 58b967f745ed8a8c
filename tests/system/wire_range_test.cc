// Range requests (RFC 9110, 14), Content-Type as stored, and HEAD as GET without its body.

#include <gtest/gtest.h>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

class WireRangeTest : public WireTest {
 protected:
  void SetUp() override { etag_ = write("/exports/acme/digits", "0123456789"); }

  static Response read(const std::string& fields,
                       const std::string& path = "/exports/acme/digits") {
    return ask(get(path, fields));
  }

  std::string etag_;
};

TEST_F(WireRangeTest, Parts) {
  struct Part {
    const char* range;
    const char* content_range;
    const char* body;
  };
  const std::vector<Part> parts = {
      {"bytes=0-3", "bytes 0-3/10", "0123"},
      {"bytes=0-0", "bytes 0-0/10", "0"},
      {"bytes=9-9", "bytes 9-9/10", "9"},
      {"bytes=4-", "bytes 4-9/10", "456789"},
      {"bytes=0-", "bytes 0-9/10", "0123456789"},
      {"bytes=-3", "bytes 7-9/10", "789"},
      {"bytes=-10", "bytes 0-9/10", "0123456789"},
      {"bytes=-11", "bytes 0-9/10", "0123456789"},
      {"bytes=8-1000", "bytes 8-9/10", "89"},
      {"bytes=8-18446744073709551615", "bytes 8-9/10", "89"},
      {"bytes=8-9223372036854775808", "bytes 8-9/10", "89"},
      {"BYTES=0-3", "bytes 0-3/10", "0123"},
      {"bytes=007-08", "bytes 7-8/10", "78"},
  };
  for (const Part& each : parts) {
    SCOPED_TRACE(each.range);
    const Response answer = read(std::string("Range: ") + each.range + "\r\n");
    EXPECT_EQ(answer.status, 206);
    EXPECT_EQ(answer.field("Content-Range"), each.content_range);
    EXPECT_EQ(answer.body, each.body);
    EXPECT_EQ(answer.field("ETag"), etag_);
    EXPECT_FALSE(answer.has("Transfer-Encoding"));
  }
}

TEST_F(WireRangeTest, Unsatisfiable) {
  for (const char* range :
       {"bytes=10-", "bytes=10-20", "bytes=1000-2000", "bytes=-0", "bytes=9223372036854775807-"}) {
    SCOPED_TRACE(range);
    RawClient client(server().port());
    const Response answer =
        client.exchange(get("/exports/acme/digits", std::string("Range: ") + range + "\r\n"));
    expect_problem(answer, 416, "range-not-satisfiable");
    EXPECT_EQ(answer.field("Content-Range"), "bytes */10");
    expect_after(client, answer, After::kKept);
  }
  write("/exports/acme/empty", "");
  const Response empty = read("Range: bytes=0-\r\n", "/exports/acme/empty");
  expect_problem(empty, 416, "range-not-satisfiable");
  EXPECT_EQ(empty.field("Content-Range"), "bytes */0");
}

TEST_F(WireRangeTest, IgnoredWhenNotUnderstood) {
  for (const char* range : {"bytes=5-3", "bytes=a-b", "bytes=", "bytes", "=0-3", "lines=0-3",
                            "bytes=--3", "bytes=0-3-5", "bytes=+0-3", "bytes=0-3;x", "bytes=0x0-3",
                            "bytes=-", "bytes=0-3,5-6", "bytes=0-3, x"}) {
    SCOPED_TRACE(range);
    const Response answer = read(std::string("Range: ") + range + "\r\n");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "0123456789");
    EXPECT_FALSE(answer.has("Content-Range"));
  }
  EXPECT_EQ(read("Range: bytes=0-1\r\nRange: bytes=2-3\r\n").status, 200);
}

TEST_F(WireRangeTest, IfRange) {
  const std::string range = "Range: bytes=0-3\r\n";
  EXPECT_EQ(read(range + "If-Range: " + etag_ + "\r\n").status, 206);
  EXPECT_EQ(read(range + "If-Range: \"other\"\r\n").status, 200);
  EXPECT_EQ(read(range + "If-Range: W/" + etag_ + "\r\n").status, 200);
  EXPECT_EQ(read(range + "If-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n").status, 200);
  EXPECT_EQ(read(range + "If-Range: rubbish\r\n").status, 200);
  EXPECT_EQ(read("Range: bytes=99-\r\nIf-Range: \"other\"\r\n").status, 200);
  EXPECT_EQ(read("If-Range: \"other\"\r\n").status, 200);
  EXPECT_EQ(read(range + "If-None-Match: " + etag_ + "\r\n").status, 304);
  EXPECT_EQ(read(range + "If-Match: \"other\"\r\n").status, 412);
}

TEST_F(WireRangeTest, OnlyForGet) {
  // RFC 9110, 14.2: a Range in a request of another method is ignored.
  const Response head =
      ask("HEAD /exports/acme/digits HTTP/1.1\r\nHost: a\r\nRange: bytes=0-3\r\n\r\n");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("Content-Length"), "10");
  EXPECT_FALSE(head.has("Content-Range"));
  EXPECT_EQ(ask(sized_put("/exports/acme/digits", "abc", "Range: bytes=0-2\r\n")).status, 204);
  EXPECT_EQ(content("exports/acme/digits"), "abc");
}

TEST_F(WireRangeTest, PartialPutIsRefused) {
  // RFC 9110, 14.5: whoever does not know partial PUT must not take a part for the whole.
  run({{"partial",
        sized_put("/exports/acme/digits", smuggled(), "Content-Range: bytes 0-2/10\r\n"),
        {400},
        After::kKept,
        "malformed-request"}});
  EXPECT_EQ(content("exports/acme/digits"), "0123456789");
}

TEST_F(WireRangeTest, HeadIsGetWithoutItsBody) {
  for (const char* path : {"/exports/acme/digits", "/exports/acme/", "/exports/acme/none"}) {
    SCOPED_TRACE(path);
    const Response whole = ask(get(path));
    const Response head = ask(std::string("HEAD ") + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(head.status, whole.status);
    for (const char* name : {"Content-Length", "Content-Type", "ETag", "Last-Modified",
                             "Accept-Ranges", "Fencing-Highest"}) {
      EXPECT_EQ(head.field(name), whole.field(name)) << name;
    }
  }
  EXPECT_EQ(read("").field("Accept-Ranges"), "bytes");
}

TEST_F(WireRangeTest, ContentTypeIsKept) {
  for (const std::string& type :
       {std::string("text/csv"), std::string("text/html; charset=\"utf-8\""),
        std::string("multipart/form-data; boundary=x"), "application/" + std::string(200, 'x')}) {
    SCOPED_TRACE(type);
    const Response written =
        ask(sized_put("/exports/acme/typed", "x", "Content-Type: " + type + "\r\n"));
    EXPECT_LT(written.status, 300) << written.body;
    EXPECT_EQ(read("", "/exports/acme/typed").field("Content-Type"), type);
  }
  write("/exports/acme/typed", "x");
  EXPECT_EQ(read("", "/exports/acme/typed").field("Content-Type"), "application/octet-stream");
}

TEST_F(WireRangeTest, HostileContentTypesCannotSplitAnswers) {
  for (const std::string& type :
       {std::string("text/plain\xC3\xA4"), std::string("no type"), std::string("\x80"),
        std::string("text/plain\tx"), std::string(4000, 'x'),
        std::string("a/b\r\nContent-Type: c/d"), std::string("")}) {
    SCOPED_TRACE(type);
    const Response written =
        ask(sized_put("/exports/hostile/x", "x", "Content-Type: " + type + "\r\n"));
    EXPECT_TRUE(written.status / 100 == 2 || written.status == 400) << written.status;
    RawClient client(server().port());
    const Response answer = client.exchange(get("/exports/hostile/x"));
    EXPECT_TRUE(answer.status == 200 || answer.status == 404) << answer.status;
    expect_after(client, answer, After::kKept);
  }
}

}  // namespace
}  // namespace fenceline::testing
