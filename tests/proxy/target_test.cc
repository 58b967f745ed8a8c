#include "proxy/target.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "proxy/uri_syntax.h"

namespace fenceline::proxy {
namespace {

using enum base::ErrorKind;
using namespace std::string_literals;
using namespace std::string_view_literals;

base::Result<void> decode(std::string_view path) {
  Target target;
  return decode_path(path, target);
}

TEST(DecodePath, GivesSegmentsDecodedOnce) {
  struct Row {
    std::string_view path;
    std::vector<std::string> segments;
    bool trailing_slash;
  };
  const std::vector<Row> rows = {
      {"/", {}, true},
      {"/a", {"a"}, false},
      {"/a/", {"a"}, true},
      {"/a/b", {"a", "b"}, false},
      {"/a/b/", {"a", "b"}, true},
      {"/%61", {"a"}, false},
      {"/%20", {" "}, false},
      {"/a%2Bb+c", {"a+b+c"}, false},
      {"/%25", {"%"}, false},
      {"/%252f", {"%2f"}, false},  // Decoded once and never again.
      {"/%2525", {"%25"}, false},
      {"/%c3%a4", {"\xc3\xa4"}, false},
      {"/%F0%9F%98%80", {"\xF0\x9F\x98\x80"}, false},
      {"/...", {"..."}, false},
      {"/.a", {".a"}, false},
      {"/a.", {"a."}, false},
      {"/..a", {"..a"}, false},
      {"/a:b@c;d=e,f", {"a:b@c;d=e,f"}, false},
      {"/~", {"~"}, false},
      {"/*", {"*"}, false},
  };
  for (const Row& row : rows) {
    Target target;
    const auto decoded = decode_path(row.path, target);
    ASSERT_TRUE(decoded) << row.path << ": " << decoded.error().detail;
    EXPECT_EQ(std::vector<std::string>(target.segments.begin(), target.segments.end()),
              row.segments)
        << row.path;
    EXPECT_EQ(target.segments.trailing_slash(), row.trailing_slash) << row.path;
  }
}

TEST(DecodePath, RefusesEveryOtherNameOfAThing) {
  const std::vector<std::string_view> paths = {
      "",
      "a",
      "a/b",
      "*",
      "//",
      "//a",
      "/a//b",
      "/a//",
      "/./a",
      "/a/.",
      "/a/./",
      "/a/..",
      "/../a",
      "/..",
      "/.",
      "/./",
      "/../",
      "/a/%2e",
      "/%2e%2e/a",
      "/.%2e",
      "/%2e.",
      "/%2E%2E",
      "/a%2fb",
      "/a%2Fb",
      "/%2f",
      "/a%5cb",
      "/a%5Cb",
      "/a\\b",
      "/\\",
      "/%00",
      "/a%00",
      "/%0a",
      "/%0d",
      "/%1f",
      "/%7f",
      "/%09",
      "/%",
      "/%4",
      "/a%",
      "/%4g",
      "/%g4",
      "/% 4",
      "/%%41",
      "/%-1",
      "/%+1",
      "/%80",
      "/%ff",
      "/%c3",
      "/%c3/%a4",
      "/%c0%af",
      "/%c0%ae%c0%ae",
      "/%e0%80%af",
      "/%ed%a0%80",
      "/%f4%90%80%80",
      "/%f8%88%80%80%80",
      "/%u0041",
      "/\xff",
      "/a\0b"sv,
      "/\n",
      "/\x7f",
  };
  for (const std::string_view path : paths) {
    const auto decoded = decode(path);
    ASSERT_FALSE(decoded) << path;
    EXPECT_EQ(decoded.error().kind, kMalformedRequest) << path;
    EXPECT_TRUE(decoded.error().detail.ends_with('.')) << decoded.error().detail;
  }
}

TEST(DecodePath, NeverLooksBehindTheEnd) {
  // A view into a longer text: what follows would complete the percent-encoding.
  EXPECT_FALSE(decode("/a%41"sv.substr(0, 4)));
  EXPECT_FALSE(decode("/a%41"sv.substr(0, 3)));
  EXPECT_EQ(find_foreign_byte("/a%41"sv.substr(0, 4)), 2U);
  EXPECT_EQ(find_foreign_byte("/a%41"sv.substr(0, 3)), 2U);
  EXPECT_EQ(find_foreign_byte("/a%41"sv), std::string_view::npos);
  EXPECT_FALSE(is_valid_host("a%41"sv.substr(0, 3)));
}

TEST(DecodePath, NamesTheSegment) {
  EXPECT_NE(decode("/ok/%2e%2e/x").error().detail.find("segment 2"), std::string::npos);
  EXPECT_NE(decode("/a%2fb").error().detail.find("0x2f"), std::string::npos);
}

TEST(DecodePath, BoundsSegments) {
  EXPECT_TRUE(decode("/" + std::string(255, 'a')));
  const auto refused = decode("/" + std::string(256, 'a'));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, kTargetTooLong);
  std::string encoded = "/";
  for (int i = 0; i < 255; ++i) {
    encoded += "%61";  // The decoded length counts.
  }
  EXPECT_TRUE(decode(encoded));
  EXPECT_EQ(decode(encoded + "%61").error().kind, kTargetTooLong);
}

TEST(QueryParameter, FindsDecodesAndRefuses) {
  const auto value = [](std::string_view query) {
    const auto found = query_parameter(query, "after");
    if (!found) {
      return "error "s + std::string(base::name_of(found.error().kind));
    }
    return found->has_value() ? "=" + **found : "none"s;
  };
  EXPECT_EQ(value(""), "none");
  EXPECT_EQ(value("x=y"), "none");
  EXPECT_EQ(value("afte=y"), "none");
  EXPECT_EQ(value("afterx=y"), "none");
  EXPECT_EQ(value("After=y"), "none");
  EXPECT_EQ(value("after"), "=");
  EXPECT_EQ(value("after="), "=");
  EXPECT_EQ(value("after=a"), "=a");
  EXPECT_EQ(value("x=y&after=a&z"), "=a");
  EXPECT_EQ(value("&&after=a&&"), "=a");
  EXPECT_EQ(value("after=a=b"), "=a=b");
  EXPECT_EQ(value("after=a+b"), "=a+b");
  EXPECT_EQ(value("after=a%20b%26c"), "=a b&c");
  EXPECT_EQ(value("after=%2561"), "=%61");
  EXPECT_EQ(value("%61fter=a"), "=a");
  EXPECT_EQ(value("after=a&after=a"), "error malformed-request");
  EXPECT_EQ(value("after=a&%61fter=b"), "error malformed-request");
  EXPECT_EQ(value("after&after"), "error malformed-request");
  EXPECT_EQ(value("after=%"), "error malformed-request");
  EXPECT_EQ(value("after=%4"), "error malformed-request");
  EXPECT_EQ(value("after=%zz"), "error malformed-request");
  EXPECT_EQ(value("after=%ff"), "error malformed-request");
  EXPECT_EQ(value("%=x"), "error malformed-request");
  EXPECT_EQ(value("x=%zz&after=a"), "=a");  // Other parameters are not ours to judge.
}

}  // namespace
}  // namespace fenceline::proxy
