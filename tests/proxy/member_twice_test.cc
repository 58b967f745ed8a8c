#include "proxy/member_twice.h"

#include <gtest/gtest.h>

namespace fenceline::proxy {
namespace {

TEST(MemberTwiceTest, IsNamed) {
  EXPECT_EQ(member_given_twice(R"({"key":"a","holder":"w","key":"b"})"), "key");
  EXPECT_EQ(member_given_twice(R"({"":1,"":2})"), "");
}

TEST(MemberTwiceTest, EscapesAreNoWayAround) {
  EXPECT_EQ(member_given_twice(R"({"token":"1","\u0074oken":"2"})"), "token");
}

TEST(MemberTwiceTest, OnlyTheOutermostObjectCounts) {
  EXPECT_EQ(member_given_twice(R"({"a":{"b":1,"b":2},"b":[{"a":1}]})"), std::nullopt);
  EXPECT_EQ(member_given_twice(R"([{"a":1,"a":2}])"), std::nullopt);
  EXPECT_EQ(member_given_twice(R"({"list":[],"inner":{},"list":1})"), "list");
}

TEST(MemberTwiceTest, WhatIsNoObjectHasNone) {
  EXPECT_EQ(member_given_twice(""), std::nullopt);
  EXPECT_EQ(member_given_twice(R"({"a":1,)"), std::nullopt);
  EXPECT_EQ(member_given_twice("7"), std::nullopt);
}

}  // namespace
}  // namespace fenceline::proxy
