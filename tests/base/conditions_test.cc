#include "base/conditions.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

namespace fenceline::base {
namespace {

constexpr std::string_view kDate = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr std::int64_t kSeconds = 784111777;
constexpr ResourceState kAbsent{};
constexpr ResourceState kPresent{.exists = true, .etag = "\"a\"", .last_modified_s = kSeconds};
constexpr ResourceState kWeak{.exists = true, .etag = "W/\"a\"", .last_modified_s = kSeconds};

RequestHead head_with(Method method, std::initializer_list<Field> fields) {
  RequestHead head;
  head.method = method;
  head.fields = fields;
  return head;
}

Verdict verdict(Method method, std::initializer_list<Field> fields, const ResourceState& state) {
  const auto conditions = Conditions::parse(head_with(method, fields));
  EXPECT_TRUE(conditions) << conditions.error().detail;
  return conditions ? conditions->evaluate(state) : Verdict::kFailed;
}

bool malformed(Method method, std::initializer_list<Field> fields) {
  const auto conditions = Conditions::parse(head_with(method, fields));
  return !conditions && conditions.error().kind == ErrorKind::kMalformedRequest;
}

TEST(Conditions, NoneProceeds) {
  for (const auto& state : {kAbsent, kPresent}) {
    EXPECT_EQ(verdict(Method::kPut, {{"Host", "x"}, {"Content-Type", "a/b"}}, state),
              Verdict::kProceed);
  }
  EXPECT_TRUE(Conditions::parse(head_with(Method::kPut, {}))->empty());
  EXPECT_FALSE(Conditions::parse(head_with(Method::kPut, {{"if-match", "*"}}))->empty());
}

TEST(Conditions, IfMatchComparesStrongly) {
  EXPECT_EQ(verdict(Method::kPut, {{"If-Match", "\"a\""}}, kPresent), Verdict::kProceed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-Match", "\"b\""}}, kPresent), Verdict::kFailed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-Match", "\"b\", \"a\""}}, kPresent), Verdict::kProceed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-Match", "W/\"a\""}}, kPresent), Verdict::kFailed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-Match", "W/\"a\""}}, kWeak), Verdict::kFailed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-Match", "\"a\""}}, kWeak), Verdict::kFailed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-Match", "\"a\""}}, kAbsent), Verdict::kFailed);
  EXPECT_EQ(verdict(Method::kGet, {{"If-Match", "\"b\""}}, kPresent), Verdict::kFailed);
}

TEST(Conditions, IfMatchAny) {
  EXPECT_EQ(verdict(Method::kPut, {{"If-Match", "*"}}, kPresent), Verdict::kProceed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-Match", "*"}}, kWeak), Verdict::kProceed);
  EXPECT_EQ(verdict(Method::kDelete, {{"If-Match", "*"}}, kAbsent), Verdict::kFailed);
}

TEST(Conditions, ListsMayBeSplitOverFieldsAndHaveEmptyElements) {
  EXPECT_EQ(verdict(Method::kPut, {{"If-Match", "\"b\""}, {"if-match", "\"a\""}}, kPresent),
            Verdict::kProceed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-Match", " , \"b\" ,,\t\"a\" , "}}, kPresent),
            Verdict::kProceed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-Match", "\"a,b\""}},
                    {.exists = true, .etag = "\"a,b\"", .last_modified_s = 0}),
            Verdict::kProceed);
}

TEST(Conditions, MalformedListsAreRefused) {
  for (const char* list : {"", " ", ",", "a", "\"a", "a\"", "\"a\" \"b\"", "*, \"a\"", "\"a\", *",
                           "w/\"a\"", "W/ \"a\"", "W/", "W", "\"a\"x", "\"a b\"", "**", "\"a\";"}) {
    for (const Method method : {Method::kGet, Method::kPut, Method::kDelete}) {
      EXPECT_TRUE(malformed(method, {{"If-Match", list}})) << list;
      EXPECT_TRUE(malformed(method, {{"If-None-Match", list}})) << list;
    }
  }
}

TEST(Conditions, IfNoneMatchComparesWeakly) {
  EXPECT_EQ(verdict(Method::kPut, {{"If-None-Match", "*"}}, kAbsent), Verdict::kProceed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-None-Match", "*"}}, kPresent), Verdict::kFailed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-None-Match", "W/\"a\""}}, kPresent), Verdict::kFailed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-None-Match", "\"b\""}}, kPresent), Verdict::kProceed);
  EXPECT_EQ(verdict(Method::kGet, {{"If-None-Match", "\"a\""}}, kWeak), Verdict::kNotModified);
  EXPECT_EQ(verdict(Method::kHead, {{"If-None-Match", "*"}}, kPresent), Verdict::kNotModified);
  EXPECT_EQ(verdict(Method::kGet, {{"If-None-Match", "\"b\""}}, kPresent), Verdict::kProceed);
}

TEST(Conditions, DatesCompareInclusively) {
  const ResourceState later{.exists = true, .etag = "\"a\"", .last_modified_s = kSeconds + 1};
  EXPECT_EQ(verdict(Method::kPut, {{"If-Unmodified-Since", kDate}}, kPresent), Verdict::kProceed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-Unmodified-Since", kDate}}, later), Verdict::kFailed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-Unmodified-Since", kDate}}, kAbsent), Verdict::kFailed);
  EXPECT_EQ(verdict(Method::kGet, {{"If-Modified-Since", kDate}}, kPresent), Verdict::kNotModified);
  EXPECT_EQ(verdict(Method::kGet, {{"If-Modified-Since", kDate}}, later), Verdict::kProceed);
  EXPECT_EQ(verdict(Method::kPut, {{"If-Modified-Since", kDate}}, kPresent), Verdict::kProceed);
}

TEST(Conditions, BrokenDatesAreIgnoredOnReadsAndRefusedOnWrites) {
  EXPECT_EQ(verdict(Method::kGet, {{"If-Unmodified-Since", "yesterday"}}, kPresent),
            Verdict::kProceed);
  EXPECT_EQ(verdict(Method::kGet, {{"If-Modified-Since", "yesterday"}}, kPresent),
            Verdict::kProceed);
  EXPECT_TRUE(malformed(Method::kPut, {{"If-Unmodified-Since", "yesterday"}}));
  EXPECT_TRUE(
      malformed(Method::kDelete, {{"If-Unmodified-Since", kDate}, {"If-Unmodified-Since", kDate}}));
}

TEST(Conditions, PrecedenceOfRfc9110) {
  // If-Match makes If-Unmodified-Since count for nothing.
  const std::string_view old = "Sun, 06 Nov 1980 08:49:37 GMT";
  EXPECT_EQ(verdict(Method::kPut, {{"If-Unmodified-Since", old}, {"If-Match", "\"a\""}}, kPresent),
            Verdict::kProceed);
  // If-None-Match makes If-Modified-Since count for nothing.
  EXPECT_EQ(
      verdict(Method::kGet, {{"If-Modified-Since", kDate}, {"If-None-Match", "\"b\""}}, kPresent),
      Verdict::kProceed);
  // The first pair is decided before the second.
  EXPECT_EQ(verdict(Method::kGet, {{"If-None-Match", "\"a\""}, {"If-Match", "\"b\""}}, kPresent),
            Verdict::kFailed);
  EXPECT_EQ(verdict(Method::kGet, {{"If-None-Match", "\"a\""}, {"If-Match", "\"a\""}}, kPresent),
            Verdict::kNotModified);
}

TEST(Conditions, KnowsWhenExistenceIsEnough) {
  const auto only = [](std::initializer_list<Field> fields) {
    return Conditions::parse(head_with(Method::kPut, fields))->only_existence();
  };
  EXPECT_TRUE(only({}));
  EXPECT_TRUE(only({{"If-None-Match", "*"}}));
  EXPECT_TRUE(only({{"If-Match", "*"}}));
  EXPECT_FALSE(only({{"If-Match", "\"a\""}}));
  EXPECT_FALSE(only({{"If-None-Match", "\"a\""}}));
  EXPECT_FALSE(only({{"If-Unmodified-Since", kDate}}));
}

}  // namespace
}  // namespace fenceline::base
