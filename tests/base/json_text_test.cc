#include "base/json_text.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <random>
#include <string>
#include <string_view>

namespace fenceline::base {
namespace {

using namespace std::string_view_literals;

TEST(JsonString, EscapesWhatMustBe) {
  EXPECT_EQ(json_string(""), R"("")");
  EXPECT_EQ(json_string("plain / text"), R"("plain / text")");
  EXPECT_EQ(json_string("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(json_string("\n\r\t"), R"("\n\r\t")");
  EXPECT_EQ(json_string("\0\x01\x1f\x7f"sv), R"("\u0000\u0001\u001f\u007f")");
  EXPECT_EQ(json_string("\xc3\xa4 \xe2\x82\xac \xF0\x9F\x98\x80"),
            "\"\xc3\xa4 \xe2\x82\xac \xF0\x9F\x98\x80\"");
}

TEST(JsonString, ReplacesEachInvalidByte) {
  EXPECT_EQ(json_string("\xff"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(json_string("a\x80z"), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(json_string("\xc3"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(json_string("\xc3\""), "\"\xEF\xBF\xBD\\\"\"");
  EXPECT_EQ(json_string("\xc0\xaf"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(json_string("\xed\xa0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(JsonString, IsAlwaysValidJson) {
  std::mt19937 random(20240607);  // NOLINT: a fixed seed is wanted here.
  for (int round = 0; round < 5000; ++round) {
    std::string text(random() % 24, '\0');
    for (char& c : text) {
      c = static_cast<char>(random());
    }
    boost::system::error_code ec;
    const boost::json::value parsed = boost::json::parse(json_string(text), ec);
    ASSERT_FALSE(ec) << ec.message();
    ASSERT_TRUE(parsed.is_string());
  }
}

}  // namespace
}  // namespace fenceline::base
