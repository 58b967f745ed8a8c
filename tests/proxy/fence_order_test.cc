#include "proxy/fence_order.h"

#include <gtest/gtest.h>

#include <string>

namespace fenceline::proxy {
namespace {

using base::ErrorKind;
using base::Token;

TEST(FenceOrderTest, ARaise) {
  const auto order = parse_fence_order(R"({"action":"raise","to":"40"})");
  ASSERT_TRUE(order.has_value()) << order.error().detail;
  EXPECT_EQ(std::get<RaiseOrder>(*order).to, Token::of(40));
}

TEST(FenceOrderTest, AReset) {
  const auto order = parse_fence_order(
      R"({"action":"reset","to":"5","from":"9223372036854775807","reason":"etcd \"x\"","by":"me"})");
  ASSERT_TRUE(order.has_value()) << order.error().detail;
  const auto& reset = std::get<fencing::ResetOrder>(*order);
  EXPECT_EQ(reset.to, Token::of(5));
  EXPECT_EQ(reset.from, Token::of(Token::kMax));
  EXPECT_EQ(reset.reason, "etcd \"x\"");
  EXPECT_EQ(reset.by, "me");
  const auto shorter = parse_fence_order(R"( {"reason":"r","action":"reset","to":"1"} )");
  ASSERT_TRUE(shorter.has_value());
  EXPECT_FALSE(std::get<fencing::ResetOrder>(*shorter).from.exists());
}

TEST(FenceOrderTest, EverythingElseIsRefused) {
  const std::string long_reason(fencing::kMaxReasonBytes + 1, 'r');
  for (const std::string& body : {
           std::string(),
           std::string("raise"),
           std::string("[]"),
           std::string("null"),
           std::string(R"({"action":"raise","to":"40"}x)"),
           std::string(R"({"action":"raise","to":"40")"),
           std::string(R"({"to":"40"})"),
           std::string(R"({"action":"lower","to":"40"})"),
           std::string(R"({"action":1,"to":"40"})"),
           std::string(R"({"action":"raise"})"),
           std::string(R"({"action":"raise","to":40})"),
           std::string(R"({"action":"raise","to":null})"),
           std::string(R"({"action":"raise","to":"40","reason":"r"})"),
           std::string(R"({"action":"raise","to":"40","x":"y"})"),
           std::string(R"({"action":"raise","to":"4","to":"40"})"),
           std::string(R"({"action":"reset","to":"5"})"),
           std::string(R"({"action":"reset","reason":"r"})"),
           std::string(R"({"action":"reset","to":"5","reason":""})"),
           std::string(R"({"action":"reset","to":"5","reason":"a\nb"})"),
           std::string(R"({"action":"reset","to":"5","reason":["r"]})"),
           std::string(R"({"action":"reset","to":"5","reason":{"a":{"b":1}}})"),
           std::string(R"({"action":"reset","to":"5","reason":"r","force":true})"),
           R"({"action":"reset","to":"5","reason":")" + long_reason + "\"}",
       }) {
    const auto order = parse_fence_order(body);
    ASSERT_FALSE(order.has_value()) << body;
    EXPECT_EQ(order.error().kind, ErrorKind::kMalformedRequest) << body;
    EXPECT_FALSE(order.error().detail.empty());
  }
  for (const char* token : {"", "0", "-1", "+1", "01", " 1", "1 ", "9223372036854775808", "x"}) {
    const auto order =
        parse_fence_order(std::string(R"({"action":"raise","to":")") + token + "\"}");
    ASSERT_FALSE(order.has_value()) << token;
    EXPECT_EQ(order.error().kind, ErrorKind::kMalformedToken) << token;
  }
}

TEST(FenceOrderTest, ASettlementNeedsAReason) {
  const auto all = parse_settle_order(R"({"reason":"restarted"})");
  ASSERT_TRUE(all.has_value()) << all.error().detail;
  EXPECT_FALSE(all->token.exists());
  EXPECT_EQ(all->reason, "restarted");
  const auto one = parse_settle_order(R"({"token":"7","reason":"r","by":"root@host"})");
  ASSERT_TRUE(one.has_value()) << one.error().detail;
  EXPECT_EQ(one->token, base::Token::of(7));
  EXPECT_EQ(one->by, "root@host");
  for (const char* body :
       {"", "[]", "{}", R"({"token":"7"})", R"({"reason":" "})", R"({"token":7,"reason":"r"})",
        R"({"reason":"a\nb"})", R"({"reason":"r","action":"settle"})"}) {
    const auto order = parse_settle_order(body);
    ASSERT_FALSE(order.has_value()) << body;
    EXPECT_EQ(order.error().kind, ErrorKind::kMalformedRequest) << body;
  }
  EXPECT_EQ(parse_settle_order(R"({"token":"07","reason":"r"})").error().kind,
            ErrorKind::kMalformedToken);
}

TEST(FenceOrderTest, NoWebPageCanGiveOne) {
  const auto allowed = [](std::vector<base::Field> fields) {
    base::RequestHead head;
    head.fields = std::move(fields);
    return check_order_head(head).has_value();
  };
  EXPECT_TRUE(allowed({{"Content-Type", "application/json"}}));
  EXPECT_TRUE(allowed({{"content-type", "Application/JSON; charset=utf-8"}}));
  EXPECT_FALSE(allowed({}));
  EXPECT_FALSE(allowed({{"Content-Type", ""}}));
  EXPECT_FALSE(allowed({{"Content-Type", "text/plain"}}));
  EXPECT_FALSE(allowed({{"Content-Type", "application/jsonx"}}));
  EXPECT_FALSE(allowed({{"Content-Type", "application/x-www-form-urlencoded"}}));
  EXPECT_FALSE(allowed({{"Content-Type", "application/json"}, {"Origin", "http://127.0.0.1"}}));
}

}  // namespace
}  // namespace fenceline::proxy
