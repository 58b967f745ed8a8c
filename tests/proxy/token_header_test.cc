#include "proxy/token_header.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fenceline::proxy {
namespace {

using enum base::ErrorKind;
using namespace std::string_view_literals;

const std::vector<std::string> kNames = {"Fencing-Token", "X-Fencing-Token"};

base::RequestHead head_with(std::initializer_list<base::Field> fields) {
  base::RequestHead head;
  head.fields = fields;
  return head;
}

base::Result<std::optional<base::Token>> token_of(std::initializer_list<base::Field> fields) {
  return token_from(head_with(fields), kNames);
}

TEST(TokenFrom, TakesTheOneToken) {
  for (const auto& [text, value] : std::vector<std::pair<std::string_view, std::int64_t>>{
           {"1", 1},
           {"34", 34},
           {"9007199254740993", 9007199254740993},
           {"9223372036854775807", base::Token::kMax}}) {
    for (const std::string_view name :
         {"Fencing-Token", "fencing-token", "FENCING-TOKEN", "X-Fencing-Token"}) {
      const auto token = token_of({{"Host", "a"}, {name, text}, {"Other", "7"}});
      ASSERT_TRUE(token) << token.error().detail;
      ASSERT_TRUE(token->has_value());
      EXPECT_EQ((*token)->value(), value);
    }
  }
}

TEST(TokenFrom, GivesNothingWithoutTheField) {
  EXPECT_EQ(token_of({}).value(), std::nullopt);
  EXPECT_EQ(token_of({{"Fencing", "1"}, {"Fencing-Tokens", "1"}, {"Fencing_Token", "1"}}).value(),
            std::nullopt);
  EXPECT_EQ(
      token_from(head_with({{"X-Fencing-Token", "1"}}), std::vector<std::string>{"Fencing-Token"})
          .value(),
      std::nullopt);
}

TEST(TokenFrom, RefusesEveryOtherForm) {
  for (const std::string_view value : {""sv,
                                       " "sv,
                                       "0"sv,
                                       "00"sv,
                                       "01"sv,
                                       "007"sv,
                                       "-1"sv,
                                       "+1"sv,
                                       "-0"sv,
                                       " 1"sv,
                                       "1 "sv,
                                       "1\t"sv,
                                       "1,2"sv,
                                       "1, 1"sv,
                                       "1;x"sv,
                                       "1.0"sv,
                                       "1e3"sv,
                                       "0x1"sv,
                                       "1_000"sv,
                                       "\"1\""sv,
                                       "fence-1"sv,
                                       "abc"sv,
                                       "1a"sv,
                                       "9223372036854775808"sv,
                                       "18446744073709551617"sv,
                                       "99999999999999999999"sv,
                                       "10000000000000000000000000000001"sv,
                                       "\xd9\xa1"sv,
                                       "1\0"sv,
                                       "1\n"sv}) {
    const auto token = token_of({{"Fencing-Token", value}});
    ASSERT_FALSE(token) << value;
    EXPECT_EQ(token.error().kind, kMalformedToken) << value;
  }
}

TEST(TokenFrom, RefusesMoreThanOneOverAllNames) {
  const std::vector<std::vector<base::Field>> cases = {
      {{"Fencing-Token", "1"}, {"Fencing-Token", "1"}},
      {{"Fencing-Token", "1"}, {"Fencing-Token", "2"}},
      {{"Fencing-Token", "1"}, {"fencing-token", "2"}},
      {{"Fencing-Token", "1"}, {"X-Fencing-Token", "1"}},
      {{"X-Fencing-Token", "2"}, {"Host", "a"}, {"Fencing-Token", "1"}},
      {{"Fencing-Token", "1"}, {"Fencing-Token", ""}},
      {{"Fencing-Token", ""}, {"X-Fencing-Token", "1"}},
  };
  for (const std::vector<base::Field>& fields : cases) {
    base::RequestHead head;
    head.fields = fields;
    const auto token = token_from(head, kNames);
    ASSERT_FALSE(token);
    EXPECT_EQ(token.error().kind, kMalformedToken);
    EXPECT_NE(token.error().detail.find("more than one"), std::string::npos);
  }
}

TEST(TokenFrom, CountsAFieldOnceWhenItsNameIsConfiguredTwice) {
  const std::vector<std::string> names = {"Fencing-Token", "fencing-token"};
  EXPECT_TRUE(token_from(head_with({{"Fencing-Token", "1"}}), names).value().has_value());
}

TEST(HolderFrom, TakesVisibleAscii) {
  EXPECT_EQ(holder_from(head_with({})).value(), "");
  EXPECT_EQ(holder_from(head_with({{"fencing-holder", "pod-7/uid:1!~"}})).value(), "pod-7/uid:1!~");
  const std::string longest(256, 'h');
  EXPECT_EQ(holder_from(head_with({{"Fencing-Holder", longest}})).value(), longest);
}

TEST(HolderFrom, RefusesTheRest) {
  const std::string too_long(257, 'h');
  for (const std::string_view value :
       {""sv, "a b"sv, " "sv, "a\tb"sv, "a\0b"sv, "a\nb"sv, "a\x7f"sv, "\xc3\xa4"sv, "a\xff"sv,
        std::string_view(too_long)}) {
    const auto holder = holder_from(head_with({{"Fencing-Holder", value}}));
    ASSERT_FALSE(holder) << value;
    EXPECT_EQ(holder.error().kind, kMalformedRequest);
  }
  const auto twice = holder_from(head_with({{"Fencing-Holder", "a"}, {"fencing-holder", "a"}}));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().kind, kMalformedRequest);
}

}  // namespace
}  // namespace fenceline::proxy
