// The lease service of the real server at its edges: limits, authentication, reload, stop.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include "tests/system/lease_server.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;

TEST(LeaseLimitsTest, AreNamed) {
  LeaseServer server("{max_ttl: 1m, max_wait: 2s, max_lock_delay: 3s}");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"holder":"a","ttl":"999ms"})", "ttl"},
      {R"({"holder":"a","ttl":"61s"})", "ttl"},
      {R"({"holder":"a","ttl":"0s"})", "ttl"},
      {R"({"holder":"a","ttl":"30s","wait":"3s"})", "wait"},
      {R"({"holder":"a","ttl":"30s","lock_delay":"4s"})", "lock"},
      {R"({"holder":"","ttl":"30s"})", "holder"},
      {R"({"holder":"a b","ttl":"30s"})", "holder"},
      {R"({"ttl":"30s"})", "holder"}};
  for (const auto& [body, named] : cases) {
    const Response refused = server.connect().exchange(post_json("/leases/k", body));
    EXPECT_EQ(refused.status, 400) << body << refused.body;
    EXPECT_THAT(text_in(refused, "detail"), HasSubstr(named)) << body;
  }
  const std::string twice = R"({"holder":"a","ttl":"30s","keys":["a","a"]})";
  EXPECT_EQ(server.connect().exchange(post_json("/leases", twice)).status, 400);
  EXPECT_EQ(server.show("k").status, 404);
}

TEST(LeaseLimitsTest, OneWaiterTooManyIsRefused) {
  LeaseServer server("{max_waiters: 2}");
  ASSERT_EQ(server.take("k", "first").status, 201);
  std::vector<RawClient> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(server.connect());
    clients.back().send(
        post_json("/leases/k", lease_order(fmt::format("w{}", i), "30s", R"(,"wait":"20s")")));
    wait_until("one more waits", [&] { return server.count("fenceline_lease_waiters") == i + 1; });
  }
  const Response refused = server.take("k", "third", "30s", R"(,"wait":"20s")");
  EXPECT_EQ(refused.status, 503) << refused.body;
  EXPECT_THAT(text_in(refused, "type"), HasSubstr("overloaded"));
  EXPECT_EQ(server.take("other", "third").status, 201) << "the bound is per key";
}

TEST(LeaseLimitsTest, AStopAnswersWhoWaitsAtOnce) {
  LeaseServer server;
  ASSERT_EQ(server.take("k", "first").status, 201);
  RawClient waiting = server.connect();
  waiting.send(post_json("/leases/k", lease_order("w", "30s", R"(,"wait":"1m")")));
  wait_until("it waits", [&] { return server.count("fenceline_lease_waiters") == 1; });
  server.process().signal(SIGTERM);
  const Response stopped = waiting.receive();
  EXPECT_EQ(stopped.status, 503);
  EXPECT_THAT(text_in(stopped, "type"), HasSubstr("shutting-down"));
  EXPECT_EQ(server.process().wait(), 0) << server.process().log();
  server.restart();
  EXPECT_EQ(text_in(server.show("k"), "holder"), "first");
}

TEST(LeaseLimitsTest, TheTokenOfTheServiceIsAskedFor) {
  LeaseServer server("{token: 0123456789abcdef}");
  const Response refused = server.take("k", "a");
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(refused.field("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(server.show("k").status, 401);
  const Response granted = server.connect().exchange(post_json(
      "/leases/k", lease_order("a", "30s"), "Authorization: Bearer 0123456789abcdef\r\n"));
  EXPECT_EQ(granted.status, 201);
  EXPECT_EQ(server.renew(granted.field("Location")).status, 401);
  EXPECT_EQ(server.release(granted.field("Location")).status, 401);
}

class LeaseReloadTest : public ::testing::Test {
 protected:
  void reload(std::string_view leases) {
    std::string text = LeaseServer::config(leases);
    if (leases.empty()) {
      const std::size_t at = text.find("leases: ");
      text.erase(at, text.find('\n', at) + 1 - at);
    }
    std::ofstream(server_.at("fenceline.yaml")) << text;
    const std::string marker = fmt::format("generation={}", ++generation_);
    server_.process().signal(SIGHUP);
    server_.process().wait_for_log(marker);
  }

  LeaseServer server_;
  int generation_ = 1;
};

TEST_F(LeaseReloadTest, ChangesLimits) {
  const Response held = server_.take("k", "a", "10s");
  ASSERT_EQ(held.status, 201);
  reload("{max_ttl: 5s}");
  EXPECT_EQ(server_.take("l", "a", "10s").status, 400);
  EXPECT_EQ(server_.take("l", "a", "5s").status, 201);
  EXPECT_EQ(server_.renew(held.field("Location")).status, 200) << "what is held keeps its ttl";
}

TEST_F(LeaseReloadTest, TurnsTheServiceOffAndOn) {
  const Response held = server_.take("k", "a");
  ASSERT_EQ(held.status, 201);
  reload("");
  EXPECT_EQ(server_.show("k").status, 404);
  EXPECT_THAT(text_in(server_.show("k"), "detail"), HasSubstr("No route"));
  EXPECT_EQ(server_.admin("/v1/leases").status, 404);
  reload("{path: /locks}");
  EXPECT_EQ(server_.show("k").status, 404);
  const Response shown = server_.connect().exchange("GET /locks/k HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(shown.status, 200);
  EXPECT_EQ(text_in(shown, "holder"), "a") << "it was held all the time";
}

TEST(LeaseStartTest, AReloadCanBeTheFirstWithLeases) {
  LeaseServer server;
  std::string without = LeaseServer::config();
  const std::size_t at = without.find("leases: ");
  without.erase(at, without.find('\n', at) + 1 - at);
  server.set_config(without);
  server.restart();
  EXPECT_EQ(server.take("k", "a").status, 404);
  std::ofstream(server.at("fenceline.yaml")) << LeaseServer::config();
  server.process().signal(SIGHUP);
  server.process().wait_for_log("generation=2");
  EXPECT_EQ(server.take("k", "a").status, 201);
}

}  // namespace
}  // namespace fenceline::testing
