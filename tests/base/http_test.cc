#include "base/http.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace fenceline::base {
namespace {

RequestHead head_with(std::vector<Field> fields) {
  RequestHead head;
  head.fields = std::move(fields);
  return head;
}

TEST(Http, FieldNamesAreEqualWhateverTheCaseOfAscii) {
  EXPECT_TRUE(equal_names("Fencing-Token", "fencing-TOKEN"));
  EXPECT_TRUE(equal_names("", ""));
  EXPECT_FALSE(equal_names("Fencing-Token", "Fencing-Tokens"));
  EXPECT_FALSE(equal_names("Fencing-Token", "Fencing_Token"));
  // Neighbours of the letters, and letters beyond ASCII, are not folded.
  EXPECT_FALSE(equal_names("@", "`"));
  EXPECT_FALSE(equal_names("[", "{"));
  EXPECT_FALSE(equal_names("\xC3\x89", "\xC3\xA9"));
}

TEST(Http, CountsFieldsOfOneName) {
  const RequestHead head = head_with({{"A", "1"}, {"b", "2"}, {"a", "3"}});
  EXPECT_EQ(head.count("a"), 2U);
  EXPECT_EQ(head.count("B"), 1U);
  EXPECT_EQ(head.count("c"), 0U);
}

TEST(Http, OnlyGivesNothingForAFieldThatIsThereTwice) {
  const RequestHead head = head_with({{"Twice", "1"}, {"Once", ""}, {"twice", "1"}});
  EXPECT_EQ(head.only("twice"), std::nullopt) << "also when both have the same value";
  EXPECT_EQ(head.only("once"), std::string_view(""));
  EXPECT_EQ(head.only("never"), std::nullopt);
}

TEST(Http, JoinsFieldsOfOneNameInTheirOrder) {
  const RequestHead head = head_with({{"A", "1"}, {"B", "x"}, {"a", ""}, {"A", "2, 3"}});
  EXPECT_EQ(head.joined("a"), "1, , 2, 3");
  EXPECT_EQ(head.joined("b"), "x");
  EXPECT_EQ(head.joined("c"), std::nullopt);
}

TEST(Http, MethodNamesAreCaseSensitive) {
  EXPECT_EQ(method_from("GET"), Method::kGet);
  EXPECT_EQ(method_from("HEAD"), Method::kHead);
  EXPECT_EQ(method_from("PUT"), Method::kPut);
  EXPECT_EQ(method_from("DELETE"), Method::kDelete);
  EXPECT_EQ(method_from("POST"), Method::kPost);
  EXPECT_EQ(method_from("OPTIONS"), Method::kOptions);
  EXPECT_EQ(method_from("PATCH"), Method::kPatch);
  for (const char* other : {"", "get", "Get", "GETS", "GE", "CONNECT", "TRACE", "PROPFIND"}) {
    EXPECT_EQ(method_from(other), Method::kOther) << other;
  }
}

TEST(Http, AReplyKeepsItsFieldsInOrderAndRepeated) {
  Reply reply;
  reply.add("Allow", "GET");
  reply.add("Allow", "PUT");
  EXPECT_EQ(reply.fields.list(), (std::vector<OwnedField>{{"Allow", "GET"}, {"Allow", "PUT"}}));
}

}  // namespace
}  // namespace fenceline::base
