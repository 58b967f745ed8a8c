#include "client/order_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace fenceline::client {
namespace {

using ::testing::HasSubstr;

base::FenceKey key(const std::string& text) { return base::FenceKey::parse(text).value(); }

LeaseOrder good() {
  LeaseOrder order;
  order.keys = {key("a"), key("b")};
  order.holder = "worker-7@db1";
  order.attempt = "1";
  order.ttl = base::Milliseconds(30'000);
  return order;
}

TEST(OrderRules, WhatIsWrongIsNamed) {
  EXPECT_TRUE(check_order(good()));
  const std::pair<const char*, std::function<void(LeaseOrder&)>> cases[] = {
      {"1 to 64 keys", [](LeaseOrder& order) { order.keys.clear(); }},
      {"1 to 64 keys", [](LeaseOrder& order) { order.keys.resize(65, key("a")); }},
      {"twice",
       [](LeaseOrder& order) {
         order.keys = {key("a"), key("a")};
       }},
      {"sorted",
       [](LeaseOrder& order) {
         order.keys = {key("b"), key("a")};
       }},
      {"holder", [](LeaseOrder& order) { order.holder.clear(); }},
      {"holder", [](LeaseOrder& order) { order.holder = "two words"; }},
      {"holder", [](LeaseOrder& order) { order.holder = "ü"; }},
      {"holder", [](LeaseOrder& order) { order.holder.assign(257, 'x'); }},
      {"attempt", [](LeaseOrder& order) { order.attempt.clear(); }},
      {"attempt", [](LeaseOrder& order) { order.attempt.assign(101, 'x'); }},
      {"ttl of 0 ms", [](LeaseOrder& order) { order.ttl = base::Milliseconds(0); }},
      {"ttl of -5 ms", [](LeaseOrder& order) { order.ttl = base::Milliseconds(-5); }},
      {"30 days", [](LeaseOrder& order) { order.ttl = kMaxTtl + base::Milliseconds(1); }},
      {"wait of -1 ms", [](LeaseOrder& order) { order.wait = base::Milliseconds(-1); }},
  };
  for (const auto& [reason, spoil] : cases) {
    LeaseOrder order = good();
    spoil(order);
    const auto checked = check_order(order);
    ASSERT_FALSE(checked) << reason;
    EXPECT_EQ(checked.error().kind, base::ErrorKind::kMalformedRequest);
    EXPECT_THAT(checked.error().detail, HasSubstr(reason));
  }
}

}  // namespace
}  // namespace fenceline::client
