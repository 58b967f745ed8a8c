#include "base/range.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace fenceline::base {
namespace {

using Kind = RangeDecision::Kind;

std::string shown(std::initializer_list<Field> fields, std::uint64_t size,
                  Method method = Method::kGet, std::string_view etag = "\"a\"") {
  RequestHead head;
  head.method = method;
  head.fields = fields;
  const auto decision =
      decide_range(head, {.size_bytes = size, .etag = etag, .last_modified_s = 784111777});
  switch (decision.kind) {
    case Kind::kFull:
      return "full";
    case Kind::kUnsatisfiable:
      return unsatisfied_range(size);
    case Kind::kPartial:
      break;
  }
  return content_range(decision, size);
}

std::string range(std::string_view value, std::uint64_t size) {
  return shown({{"Range", value}}, size);
}

TEST(Range, SingleOpenAndSuffix) {
  EXPECT_EQ(range("bytes=0-0", 10), "bytes 0-0/10");
  EXPECT_EQ(range("bytes=2-5", 10), "bytes 2-5/10");
  EXPECT_EQ(range("bytes=2-", 10), "bytes 2-9/10");
  EXPECT_EQ(range("bytes=-3", 10), "bytes 7-9/10");
  EXPECT_EQ(range("BYTES= 2-5 ", 10), "bytes 2-5/10");
}

TEST(Range, EndsAreCut) {
  EXPECT_EQ(range("bytes=2-500", 10), "bytes 2-9/10");
  EXPECT_EQ(range("bytes=-500", 10), "bytes 0-9/10");
  EXPECT_EQ(range("bytes=2-99999999999999999999999", 10), "bytes 2-9/10");
  EXPECT_EQ(range("bytes=-18446744073709551619", 10), "bytes 0-9/10");
}

TEST(Range, Unsatisfiable) {
  EXPECT_EQ(range("bytes=10-", 10), "bytes */10");
  EXPECT_EQ(range("bytes=18446744073709551616-", 10), "bytes */10");
  EXPECT_EQ(range("bytes=-0", 10), "bytes */10");
  EXPECT_EQ(range("bytes=0-", 0), "bytes */0");
  EXPECT_EQ(range("bytes=-5", 0), "full");
}

TEST(Range, MalformedAndSeveralAreAnsweredInFull) {
  for (const char* value :
       {"", "bytes", "bytes=", "bytes=-", "bytes=5", "bytes=5-2", "bytes=a-b", "bytes=+1-2",
        "bytes=1 -2", "bytes=0-1,3-4", "bytes=0-0,-1", "bytes=0x1-2", "lines=1-2", "bytes =1-2",
        "bytes=--1", "bytes=1--2", "bytes=99999999999999999999-1"}) {
    EXPECT_EQ(range(value, 10), "full") << value;
  }
  EXPECT_EQ(shown({{"Range", "bytes=0-1"}, {"Range", "bytes=0-1"}}, 10), "full");
}

TEST(Range, OnlyGet) {
  EXPECT_EQ(shown({{"Range", "bytes=0-1"}}, 10, Method::kHead), "full");
  EXPECT_EQ(shown({{"Range", "bytes=0-1"}}, 10, Method::kPut), "full");
}

TEST(Range, IfRange) {
  const auto with = [](std::string_view validator, std::string_view etag = "\"a\"") {
    return shown({{"Range", "bytes=0-1"}, {"If-Range", validator}}, 10, Method::kGet, etag);
  };
  EXPECT_EQ(with("\"a\""), "bytes 0-1/10");
  EXPECT_EQ(with("\"b\""), "full");
  EXPECT_EQ(with("W/\"a\""), "full");
  EXPECT_EQ(with("W/\"a\"", "W/\"a\""), "full");
  EXPECT_EQ(with("Sun, 06 Nov 1994 08:49:37 GMT"), "bytes 0-1/10");
  EXPECT_EQ(with("Sun, 06 Nov 1994 08:49:38 GMT"), "full");
  EXPECT_EQ(with(""), "full");
  EXPECT_EQ(with("\"a\", \"b\""), "full");
  EXPECT_EQ(shown({{"Range", "bytes=0-1"}, {"If-Range", "\"a\""}, {"If-Range", "\"a\""}}, 10),
            "full");
  EXPECT_EQ(shown({{"If-Range", "\"a\""}}, 10), "full");
}

}  // namespace
}  // namespace fenceline::base
