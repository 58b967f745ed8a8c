// What a request to the lease service asks for.

#include "proxy/lease_request.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace fenceline::proxy {
namespace {

using base::ErrorKind;
using base::Milliseconds;

constexpr std::string_view kId = "0123456789abcdef0123456789abcdef";

base::Result<LeaseCall> call(std::string_view method, std::string_view path) {
  base::RequestHead head;
  head.method = base::method_from(method);
  head.path = path;
  return lease_call(head, "/leases");
}

base::FenceKey key(std::string text) { return *base::FenceKey::parse(std::move(text)); }

base::Result<fencing::AcquireOrder> acquire(std::string_view body) {
  return parse_acquire(body, key("a"), Milliseconds(7));
}

TEST(LeaseRequestTest, ThePathOfTheServiceEndsAtASegment) {
  EXPECT_TRUE(is_below("/leases", "/leases"));
  EXPECT_TRUE(is_below("/leases/", "/leases"));
  EXPECT_TRUE(is_below("/leases/a", "/leases"));
  EXPECT_FALSE(is_below("/leasesx/a", "/leases"));
  EXPECT_FALSE(is_below("/lease", "/leases"));
  EXPECT_FALSE(is_below("/x/leases/a", "/leases"));
}

TEST(LeaseRequestTest, TheMethodSaysWhatThePathNames) {
  EXPECT_EQ(call("GET", "/leases")->verb, LeaseVerb::kList);
  EXPECT_EQ(call("HEAD", "/leases")->verb, LeaseVerb::kList);
  EXPECT_EQ(call("POST", "/leases")->verb, LeaseVerb::kAcquire);
  EXPECT_EQ(call("POST", "/leases")->raw_key, "");
  EXPECT_EQ(call("POST", "/leases/a/b%2Fc")->raw_key, "a/b%2Fc");
  EXPECT_EQ(call("GET", "/leases/a/b")->verb, LeaseVerb::kShow);
  // The key may end like a lease.
  const std::string short_path = "/leases/a/" + std::string(kId);
  EXPECT_EQ(call("GET", short_path)->raw_key.size(), 34U);
  const std::string path = "/leases/a/b/" + std::string(kId);
  const auto renew = call("PUT", path);
  ASSERT_TRUE(renew);
  EXPECT_EQ(renew->verb, LeaseVerb::kRenew);
  EXPECT_EQ(renew->raw_key, "a/b");
  EXPECT_EQ(renew->lease, kId);
  EXPECT_EQ(call("DELETE", short_path)->verb, LeaseVerb::kRelease);
}

TEST(LeaseRequestTest, OtherMethodsAreNotAllowed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"PUT", "/leases"}, {"DELETE", "/leases"}, {"PATCH", "/leases"}};
  for (const auto& [method, path] : cases) {
    const auto refused = call(method, path);
    ASSERT_FALSE(refused) << method;
    EXPECT_EQ(refused.error().kind, ErrorKind::kMethodNotAllowed);
    EXPECT_EQ(refused.error().fields.front().second, "GET, HEAD, POST");
  }
  const auto refused = call("PATCH", "/leases/a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fields.front().second, "GET, HEAD, POST, PUT, DELETE");
}

TEST(LeaseRequestTest, ARenewalNeedsTheIdOfALease) {
  for (const std::string path :
       {"/leases/a", "/leases/exports/acme", "/leases/0123/",
        "/leases/0123456789abcdef0123456789abcdef", "/leases/a/0123456789abcdef0123456789abcdeg"}) {
    for (const std::string method : {"PUT", "DELETE"}) {
      const auto refused = call(method, path);
      ASSERT_FALSE(refused) << path;
      EXPECT_EQ(refused.error().kind, ErrorKind::kMalformedRequest) << path;
    }
  }
}

TEST(LeaseRequestTest, AnAcquireHasItsDefaults) {
  const auto order = acquire(R"({"holder":"w1","ttl":"30s"})");
  ASSERT_TRUE(order) << order.error().detail;
  EXPECT_EQ(order->keys, std::vector{key("a")});
  EXPECT_EQ(order->holder, "w1");
  EXPECT_EQ(order->ttl, Milliseconds(30'000));
  EXPECT_EQ(order->wait, Milliseconds(0));
  EXPECT_EQ(order->lock_delay, Milliseconds(7));
  EXPECT_EQ(order->request_id, "");
}

TEST(LeaseRequestTest, AnAcquireSaysEverything) {
  const auto order = parse_acquire(R"({"holder":"w","ttl":"1500ms","wait":"1m","request_id":"r",)"
                                   R"("lock_delay":"0","keys":["b","a/ü"]})",
                                   std::nullopt, Milliseconds(7));
  ASSERT_TRUE(order) << order.error().detail;
  EXPECT_EQ(order->keys, (std::vector{key("b"), key("a/ü")}));
  EXPECT_EQ(order->ttl, Milliseconds(1500));
  EXPECT_EQ(order->wait, Milliseconds(60'000));
  EXPECT_EQ(order->lock_delay, Milliseconds(0));
  EXPECT_EQ(order->request_id, "r");
}

TEST(LeaseRequestTest, WhatIsNoAcquireIsRefusedWithTheReason) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not JSON"},
      {"[]", "JSON object"},
      {R"({"holder":"w"})", "needs 'ttl'"},
      {R"({"holder":"w","ttl":30})", "'ttl' must be a string with a unit"},
      {R"({"holder":"w","ttl":"30"})", "'ttl': "},
      {R"({"holder":"w","ttl":"1.5s"})", "'ttl': "},
      {R"({"holder":"w","ttl":"-1s"})", "'ttl': "},
      {R"({"holder":"w","ttl":"99999999999999999999s"})", "'ttl': "},
      {R"({"holder":"w","ttl":"1s","wait":true})", "'wait' must be"},
      {R"({"holder":7,"ttl":"1s"})", "'holder' must be a string"},
      {R"({"holder":"w","ttl":"1s","request_id":""})", "'request_id' is empty"},
      {R"({"holder":"w","ttl":"1s","owner":"x"})", "no member 'owner'"},
      {R"({"holder":"w","ttl":"1s","keys":["b"]})", "names the key already"},
      {R"({"holder":"w","ttl":"1s","ttl":"9h"})", "the member 'ttl' twice"},
      {R"({"holder":{"a":{}},"ttl":"1s"})", "not JSON"}};
  for (const auto& [body, reason] : cases) {
    const auto refused = acquire(body);
    ASSERT_FALSE(refused) << body;
    EXPECT_EQ(refused.error().kind, ErrorKind::kMalformedRequest) << body;
    EXPECT_NE(refused.error().detail.find(reason), std::string::npos)
        << body << ": " << refused.error().detail;
  }
  for (const std::string keys : {R"("a")", "[1]", R"(["a\u0000"])", R"([""])", "null"}) {
    const auto refused = parse_acquire(R"({"holder":"w","ttl":"1s","keys":)" + keys + "}",
                                       std::nullopt, Milliseconds(0));
    ASSERT_FALSE(refused) << keys;
    EXPECT_EQ(refused.error().kind, ErrorKind::kMalformedRequest) << keys;
  }
  EXPECT_FALSE(parse_acquire(R"({"holder":"w","ttl":"1s"})", std::nullopt, Milliseconds(0)));
}

TEST(LeaseRequestTest, ARenewalMayNameATtl) {
  EXPECT_EQ(*parse_renew(""), std::nullopt);
  EXPECT_EQ(*parse_renew("{}"), std::nullopt);
  EXPECT_EQ(*parse_renew(R"({"ttl":"2m"})"), Milliseconds(120'000));
  for (const std::string_view body :
       {"x", R"({"ttl":120})", R"({"wait":"1s"})", R"({"ttl":null})"}) {
    EXPECT_FALSE(parse_renew(body)) << body;
  }
}

TEST(LeaseRequestTest, ARevokeNeedsAReason) {
  const auto order = parse_revoke(R"({"action":"revoke","reason":"host is gone","by":"eve"})");
  ASSERT_TRUE(order);
  EXPECT_EQ(order->reason, "host is gone");
  EXPECT_EQ(order->by, "eve");
  for (const std::string_view body :
       {"{}", R"({"action":"revoke"})", R"({"action":"reset","reason":"x"})", R"({"reason":"x"})",
        R"({"action":"revoke","reason":"x","to":"5"})", R"({"action":"revoke","reason":"a\nb"})"}) {
    const auto refused = parse_revoke(body);
    ASSERT_FALSE(refused) << body;
    EXPECT_EQ(refused.error().kind, ErrorKind::kMalformedRequest) << body;
  }
}

}  // namespace
}  // namespace fenceline::proxy
