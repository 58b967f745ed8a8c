#include "base/token.h"

#include <gtest/gtest.h>

#include <string>

namespace fenceline::base {
namespace {

TEST(Token, ReadsDecimalDigitsUpToTheGreatest) {
  EXPECT_EQ(Token::parse("1").value().value(), 1);
  EXPECT_EQ(Token::parse("34").value().value(), 34);
  EXPECT_EQ(Token::parse("1000000000000000000").value().value(), 1'000'000'000'000'000'000);
  EXPECT_EQ(Token::parse("9223372036854775807").value(), Token::of(Token::kMax));
}

TEST(Token, WritesWhatItReads) {
  for (const char* text : {"1", "10", "9007199254740993", "9223372036854775807"}) {
    EXPECT_EQ(Token::parse(text).value().text(), text);
  }
}

TEST(Token, RefusesEverythingElseWithTheRuleThatWasBroken) {
  using namespace std::string_literals;
  const std::pair<std::string, std::string> cases[] = {
      {"", "is empty"},
      {"0", "is 0"},
      {"00", "leading zero"},
      {"01", "leading zero"},
      {"-1", "not a digit"},
      {"+1", "not a digit"},
      {" 1", "not a digit"},
      {"1 ", "not a digit"},
      {"\t1", "not a digit"},
      {"1\n", "not a digit"},
      {"1\0"s, "not a digit"},
      {"1.0", "not a digit"},
      {"1e3", "not a digit"},
      {"0x10", "not a digit"},
      {"1,2", "not a digit"},
      {"1_000", "not a digit"},
      {"\xD9\xA1", "not a digit"},  // ARABIC-INDIC DIGIT ONE
      {"9223372036854775808", "larger than"},
      {"18446744073709551619", "larger than"},  // 2^64 + 3
      {"10000000000000000000", "larger than"},
      {std::string(1000, '9'), "larger than"},
  };
  for (const auto& [text, rule] : cases) {
    const auto token = Token::parse(text);
    ASSERT_FALSE(token.has_value()) << text;
    EXPECT_EQ(token.error().kind, ErrorKind::kMalformedToken);
    EXPECT_NE(token.error().detail.find(rule), std::string::npos) << token.error().detail;
    EXPECT_NE(token.error().detail.find("9223372036854775807"), std::string::npos)
        << "the sentence says what to send";
  }
}

TEST(Token, NoTokenIsBelowEveryToken) {
  EXPECT_FALSE(Token().exists());
  EXPECT_EQ(Token(), Token::of(0));
  EXPECT_LT(Token(), Token::of(1));
  EXPECT_LT(Token::of(Token::kMax - 1), Token::of(Token::kMax));
  EXPECT_TRUE(Token::of(1).exists());
}

}  // namespace
}  // namespace fenceline::base
