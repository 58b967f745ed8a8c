// What a Redis source does in front of one real server beyond the contract of all sources.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "base/boottime_clock.h"
#include "client/token_source.h"
#include "tests/client/redis_server.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

using base::ErrorKind;
using base::Milliseconds;
using client::Grant;
using client::LeaseOrder;
using client::redis::bulk;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const base::BoottimeClock& the_clock() {
  static const base::BoottimeClock clock;
  return clock;
}

std::unique_ptr<client::TokenSource> open(const std::string& url) {
  return client::make_source(url, the_clock()).value();
}

LeaseOrder order(const std::string& attempt = "a1", Milliseconds ttl = Milliseconds(30'000)) {
  LeaseOrder order;
  order.keys = {base::FenceKey::parse("exports/42").value()};
  order.holder = "worker@host";
  order.attempt = attempt;
  order.ttl = ttl;
  return order;
}

constexpr const char* kLock = "fenceline:{exports/42}:lock";
constexpr const char* kToken = "fenceline:{exports/42}:token";

std::string plain(const RedisServer& server) { return "redis://" + server.address(); }

TEST(RedisSource, ARepeatedAttemptGetsTheSameTokenAndItsTtlAnew) {
  RedisServer server;
  const auto source = open(plain(server));
  const Grant first = source->acquire(order("a1", Milliseconds(500)), {}).value();
  const Grant again = open(plain(server))->acquire(order("a1", Milliseconds(20'000)), {}).value();
  EXPECT_EQ(again.token, first.token);
  EXPECT_EQ(again.lease, first.lease);
  EXPECT_GT(server.ask({"PTTL", kLock}).integer, 10'000) << "it says that it is valid so long";
  EXPECT_EQ(source->acquire(order("a2"), {}).error().kind, ErrorKind::kLeaseHeld);
  EXPECT_EQ(server.ask({"GET", kToken}), bulk("1"));
}

TEST(RedisSource, TokensAboveWhatLuaCanCountAreExact) {
  RedisServer server;
  server.ask({"SET", kToken, "9007199254740992"});
  const auto source = open(plain(server));
  const Grant grant = source->acquire(order(), {}).value();
  EXPECT_EQ(grant.token.value(), 9007199254740993);
  EXPECT_EQ(source->acquire(order(), {}).value().token, grant.token);
  EXPECT_EQ(source->show(order().keys.front()).value().value().token, grant.token);
}

TEST(RedisSource, ACounterThatCannotCountIsExplainedAndLeavesNoLock) {
  RedisServer server;
  const auto source = open(plain(server));
  for (const auto& [value, reason] : {std::pair("9223372036854775807", "2^63-1"),
                                      {"abc", "no number"},
                                      {"-7", "somebody else"}}) {
    server.ask({"SET", kToken, value});
    const auto grant = source->acquire(order(), {});
    ASSERT_FALSE(grant) << value;
    EXPECT_EQ(grant.error().kind, ErrorKind::kUpstreamFailed);
    EXPECT_THAT(grant.error().detail, AllOf(HasSubstr(reason), HasSubstr(server.address())));
    wait_until("the lock to be given back", [&] {
      return server.ask({"EXISTS", kLock}).integer == 0;
    });
  }
}

TEST(RedisSource, ACounterDoesNotExpire) {
  RedisServer server;
  server.ask({"SET", kToken, "5", "PX", "60000"});
  EXPECT_EQ(open(plain(server))->acquire(order(), {}).value().token.value(), 6);
  EXPECT_EQ(server.ask({"PTTL", kToken}).integer, -1);
}

TEST(RedisSource, SomebodyElsesLockIsNotShownNorTaken) {
  RedisServer server;
  server.ask({"SET", kLock, "a-secret-of-theirs"});
  const auto grant = open(plain(server))->acquire(order(), {});
  ASSERT_FALSE(grant);
  EXPECT_EQ(grant.error().kind, ErrorKind::kLeaseHeld);
  EXPECT_THAT(grant.error().detail,
              AllOf(HasSubstr("without an end"), Not(HasSubstr("a-secret-of-theirs"))));
}

TEST(RedisSource, WhoIsNotLetInIsToldHow) {
  RedisServer server({.password = "s3cret"});
  const std::string address = server.address();
  for (const std::string& url :
       {"redis://" + address, "redis://:wrong@" + address, "redis://nobody:s3cret@" + address}) {
    const auto grant = open(url)->acquire(order(), {});
    ASSERT_FALSE(grant) << url;
    EXPECT_EQ(grant.error().kind, ErrorKind::kUnauthorized) << grant.error().detail;
    EXPECT_EQ(grant.error().applied, base::Applied::kNo);
    EXPECT_THAT(grant.error().detail, Not(HasSubstr("s3cret")));
  }
  server.ask({"ACL", "SETUSER", "me", "on", ">mine", "~fenceline:*", "+eval", "+set", "+get",
              "+incr", "+del", "+pttl", "+pexpire", "+persist"});
  const auto source = open("redis://me:mine@" + address);
  const Grant grant = source->acquire(order(), {}).value();
  EXPECT_TRUE(source->renew(grant, {}));
  EXPECT_TRUE(source->show(grant.keys.front()).value().has_value());
  EXPECT_TRUE(source->release(grant));
  EXPECT_THAT(source->warnings().value(), ElementsAre(HasSubstr("could not be checked")));
  EXPECT_FALSE(open("redis://:s3cret@" + address + "/99")->acquire(order(), {}));
}

TEST(RedisSource, TlsIsVerified) {
  const RedisServer server({.tls = true});
  const auto untrusted = open("rediss://" + server.address())->acquire(order(), {});
  ASSERT_FALSE(untrusted);
  EXPECT_THAT(untrusted.error().detail, HasSubstr("certificate"));
  const auto other_name =
      open("rediss://127.0.0.1:" + std::to_string(server.port()) + "?ca=" + server.certificate())
          ->acquire(order(), {});
  ASSERT_FALSE(other_name);
  EXPECT_THAT(other_name.error().detail, HasSubstr("certificate"));
  EXPECT_FALSE(open(plain(server))->acquire(order(), {})) << "without TLS";
}

TEST(RedisSource, ABadSetupIsWarnedOf) {
  const RedisServer forgetful({.arguments = {"--appendonly", "no"}});
  EXPECT_THAT(open(plain(forgetful))->warnings().value(),
              ElementsAre(HasSubstr("persists nothing")));
  const RedisServer evicting(
      {.arguments = {"--maxmemory-policy", "allkeys-lru", "--appendfsync", "everysec"}});
  EXPECT_THAT(open(plain(evicting))->warnings().value(),
              ElementsAre(HasSubstr("allkeys-lru"), HasSubstr("2 seconds")));
  const RedisServer replica(
      {.arguments = {"--replicaof", "127.0.0.1 " + std::to_string(evicting.port())}});
  EXPECT_THAT(open(plain(replica))->warnings().value(), Contains(HasSubstr("is a replica")));
  const auto refused = open(plain(replica))->acquire(order(), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().detail, HasSubstr("name the master"));
  wait_until("the replica to be seen", [&] {
    const auto warnings = open(plain(evicting))->warnings().value();
    return std::ranges::any_of(warnings, [](const std::string& warning) {
      return warning.find("promoted") != std::string::npos;
    });
  });
}

TEST(RedisSource, AFrozenServerBlocksNobodyForLong) {
  RedisServer server;
  const auto source = open(plain(server));
  const Grant grant = source->acquire(order("a1", Milliseconds(2'000)), {}).value();
  server.pause();
  const auto start = the_clock().now();
  const auto renewed = source->renew(grant, {});
  ASSERT_FALSE(renewed);
  EXPECT_EQ(renewed.error().kind, ErrorKind::kUpstreamTimeout);
  EXPECT_EQ(renewed.error().applied, base::Applied::kUnknown);
  EXPECT_LT(the_clock().now() - start, Milliseconds(3'000));

  std::stop_source stop;
  auto stopped = std::async(std::launch::async, [&] {
    return open(plain(server))->acquire(order("a2"), stop.get_token());
  });
  stop.request_stop();
  EXPECT_EQ(stopped.get().error().kind, ErrorKind::kClientGone);
  server.resume();
}

TEST(RedisSource, WhatWasAskedOfAFrozenServerIsTakenBack) {
  RedisServer server;
  const auto source = open(plain(server));
  ASSERT_TRUE(source->release(source->acquire(order("a0"), {}).value()));
  server.pause();
  std::stop_source stop;
  auto stopped = std::async(std::launch::async,
                            [&] { return source->acquire(order("a1"), stop.get_token()); });
  // Its command lies in the socket of the server by then.
  EXPECT_EQ(stopped.wait_for(Milliseconds(300)), std::future_status::timeout);
  stop.request_stop();
  EXPECT_EQ(stopped.get().error().kind, ErrorKind::kClientGone);
  server.resume();
  wait_until("the server to have read both", [&] {
    return server.ask({"GET", kToken}) == bulk("2");
  });
  EXPECT_EQ(server.ask({"EXISTS", kLock}).integer, 0);
}

TEST(RedisSource, WhatIsNoRedisIsSaidToBeNone) {
  // A Redis that speaks TLS answers a plain client with an alert.
  const RedisServer tls({.tls = true});
  const auto grant = open(plain(tls))->acquire(order(), {});
  ASSERT_FALSE(grant);
  EXPECT_EQ(grant.error().kind, ErrorKind::kUpstreamFailed);
  const auto unnamed = open("redis://no-such-host.invalid")->acquire(order(), {});
  ASSERT_FALSE(unnamed);
  EXPECT_THAT(unnamed.error().detail, HasSubstr("no-such-host.invalid"));
}

}  // namespace
}  // namespace fenceline::testing
