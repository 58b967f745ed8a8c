#include "backends/sqlite/parameters.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/base64.h"

namespace fenceline::testing {
namespace {

using backends::sqlite::Blob;
using backends::sqlite::Parameters;
using backends::sqlite::parse_parameters;
using backends::sqlite::Value;
using base::append_base64;
using base::decode_base64;

TEST(Parameters, EveryType) {
  const auto read = parse_parameters(
      R"({"n":null,"i":-7,"r":1.0,"e":1e3,"t":"a\u0000\u00e4","b":{"base64":"AP8="}})");
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(read->at("n"), Value(std::monostate()));
  EXPECT_EQ(read->at("i"), Value(std::int64_t{-7}));
  EXPECT_EQ(read->at("r"), Value(1.0));
  EXPECT_EQ(read->at("e"), Value(1000.0));
  EXPECT_EQ(read->at("t"), Value(std::string("a\0\xc3\xa4", 4)));
  EXPECT_EQ(read->at("b"), Value(Blob{std::string("\0\xff", 2)}));
  EXPECT_EQ(parse_parameters(R"({"":{"base64":""}})")->at(""), Value(Blob{}));
}

TEST(Parameters, IntegersOf64BitsAreExact) {
  for (const std::string digits : {"9223372036854775807", "-9223372036854775808", "0",
                                   "9007199254740993", "-9007199254740993"}) {
    const auto read = parse_parameters("{\"i\":" + digits + "}");
    ASSERT_TRUE(read) << digits;
    EXPECT_EQ(std::to_string(std::get<std::int64_t>(read->at("i"))), digits);
  }
}

TEST(Parameters, RealsAreTheNearest) {
  const auto read = parse_parameters(R"({"a":0.1,"b":1.7976931348623157e308,"c":5e-324,
                                        "d":6631.5155005669})");
  ASSERT_TRUE(read);
  EXPECT_EQ(std::get<double>(read->at("a")), 0.1);
  EXPECT_EQ(std::get<double>(read->at("b")), std::numeric_limits<double>::max());
  EXPECT_EQ(std::get<double>(read->at("c")), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(std::get<double>(read->at("d")), 6631.5155005669);
}

TEST(Parameters, NothingIsAnEmptyObject) {
  for (const std::string text : {"", " \r\n\t", "{}", " { } "}) {
    const auto read = parse_parameters(text);
    ASSERT_TRUE(read) << text;
    EXPECT_TRUE(read->empty());
  }
}

TEST(Parameters, TheRestIsRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"x":true})", "\"x\""},
      {R"({"x":false})", "\"x\""},
      {R"({"x":[]})", "\"x\" is an array"},
      {R"({"x":{}})", "base64"},
      {R"({"x":{"base64":"AA=="},"y":{"hex":"00"}})", "\"y\""},
      {R"({"x":{"base64":"AA==","more":1}})", "\"x\""},
      {R"({"x":{"base64":"AA==","base64":"AA=="}})", "\"x\""},
      {R"({"x":{"base64":1}})", "\"x\""},
      {R"({"x":{"base64":{"base64":"AA=="}}})", "\"x\""},
      {R"({"x":{"base64":["AA=="]}})", "\"x\""},
      {R"({"x":{"base64":"AA"}})", "broken base64"},
      {R"({"x":9223372036854775808})", "\"x\" is an integer"},
      {R"({"x":-9223372036854775809})", "\"x\" is an integer"},
      {R"({"x":18446744073709551616})", "\"x\" is an integer"},
      {R"({"x":123456789012345678901234567890})", "\"x\" is an integer"},
      {R"({"x":1e999})", "\"x\" is a number"},
      {R"({"x":1,"x":1})", "\"x\" is given twice"},
      {R"([])", "one JSON object"},
      {R"(7)", "one JSON object"},
      {R"("x")", "one JSON object"},
      {R"(null)", "one JSON object"},
      {R"({"x":1)", "no JSON object"},
      {R"({"x":1}{})", "no JSON object"},
      {R"({"x":01})", "no JSON object"},
      {R"({x:1})", "no JSON object"},
      {R"({"x":1,})", "no JSON object"},
      {"{\"x\":\"\xff\"}", "no JSON object"},
      {R"({"x":/**/1})", "no JSON object"}};
  for (const auto& [text, part] : cases) {
    const auto read = parse_parameters(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().kind, base::ErrorKind::kMalformedRequest);
    EXPECT_NE(read.error().detail.find(part), std::string::npos) << text << read.error().detail;
  }
}

TEST(Base64, BothWays) {
  for (const std::string bytes :
       {"", "f", "fo", "foo", "foob", "fooba", "foobar", "\xff\xfe\xfd"}) {
    std::string text;
    append_base64(text, bytes);
    EXPECT_EQ(decode_base64(text), bytes) << text;
  }
  std::string text;
  append_base64(text, "foobar");
  EXPECT_EQ(text, "Zm9vYmFy");
}

TEST(Base64, OnlyTheOneSpelling) {
  for (const std::string text : {"Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Z===", "=",
                                 "====", "Zg==Zg==", "Zm9v\n", "Zm 9v", "-_-_"}) {
    EXPECT_EQ(decode_base64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace fenceline::testing
