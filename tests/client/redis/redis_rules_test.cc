// What the Redis sources decide without a server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/redis/failures.h"
#include "client/sources/redis_health.h"
#include "client/sources/redis_lease.h"
#include "client/sources/redis_url.h"
#include "client/sources/sources.h"
#include "tests/support/manual_clock.h"

namespace fenceline::client {
namespace {

using base::ErrorKind;
using base::Milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

MadeSource made(const std::string& url) {
  static const testing::ManualClock clock;
  auto parsed = parse_source_url(url, 6379).value();
  return parsed.scheme.starts_with("redlock") ? make_redlock_source(std::move(parsed), clock)
                                              : make_redis_source(std::move(parsed), clock);
}

TEST(RedisUrl, WhatItSaysIsRead) {
  const auto read = read_redis_url(
      parse_source_url("redis://me:pw@h,i:7/2?prefix=x:", 6379).value(), "rediss", "");
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(read->prefix, "x:");
  ASSERT_EQ(read->servers.size(), 2U);
  for (const redis::PeerOptions& server : read->servers) {
    EXPECT_EQ(server.user, "me");
    EXPECT_EQ(server.password, "pw");
    EXPECT_EQ(server.database, 2U);
    EXPECT_EQ(server.tls, nullptr);
  }
  EXPECT_EQ(read->servers[1].port, 7);
  EXPECT_NE(read_redis_url(parse_source_url("rediss://h", 1).value(), "rediss", "")->servers[0].tls,
            nullptr);
}

TEST(RedisUrl, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"redis://h/x", "database number"},
      {"redis://h/1/2", "database number"},
      {"redis://h/-1", "database number"},
      {"redis://me@h", "without a password"},
      {"redis://h?ca=/x.pem", "rediss://"},
      {"redis://h?insecure=1", "no option 'insecure'"},
      {"redis://h?prefix=%0a", "printable"},
      {"rediss://h?ca=/nonexistent.pem", "/nonexistent.pem"},
      {"redis://a,b", "redlock://"},
      {"redlock://a,b", "3 to 15"},
      {"redlock://a,b,c?ca=/x.pem", "redlocks://"},
  };
  for (const auto& [url, reason] : cases) {
    const auto source = made(url);
    ASSERT_FALSE(source) << url;
    EXPECT_EQ(source.error().kind, ErrorKind::kMalformedRequest) << url;
    EXPECT_THAT(source.error().detail, HasSubstr(reason)) << url;
  }
  EXPECT_TRUE(made("redis://:pw@h/?prefix="));
  EXPECT_TRUE(made("redlocks://a,b,c"));
}

TEST(RedisNames, BracesKeepThemTogether) {
  const auto key = base::FenceKey::parse("exports/42").value();
  EXPECT_EQ(lock_name("fenceline:", key), "fenceline:{exports/42}:lock");
  EXPECT_EQ(token_name("", key), "{exports/42}:token");
}

TEST(RedisLease, TheOwnerTellsTheHolderAndNoTwoAreEqual) {
  EXPECT_EQ(holder_in(owner_value("w@h", "x1")), "w@h");
  EXPECT_EQ(holder_in(owner_value("w#1@h", "a#b%")), "w#1@h");
  EXPECT_EQ(holder_in("4f3a"), "") << "somebody else's lock, whose value is a secret";
  EXPECT_NE(owner_value("w", "a#b"), owner_value("w#a", "b"));
  EXPECT_NE(owner_value("w", "a%23b"), owner_value("w", "a#b"));
}

TEST(RedisLease, ItIsValidForLessThanItsTtlFromBeforeItWasAskedFor) {
  const base::MonotonicTime sent(std::chrono::hours(1));
  EXPECT_EQ(valid_until(sent, Milliseconds(30'000)), sent + Milliseconds(29'698));
  EXPECT_GT(valid_until(sent, kMinRedisTtl), sent);
}

TEST(RedisLease, TheBackoffStaysInItsBounds) {
  Backoff backoff;
  for (int i = 0; i < 1000; ++i) {
    const Milliseconds wait = backoff.next(std::nullopt);
    EXPECT_GT(wait, Milliseconds(0));
    EXPECT_LE(wait, Milliseconds(255));
    EXPECT_LE(backoff.next(Milliseconds(3)), Milliseconds(13));
    EXPECT_GT(backoff.next(Milliseconds(-1)), Milliseconds(0)) << "a lock without an end";
  }
}

TEST(RedisFailures, AreExplained) {
  const std::tuple<const char*, ErrorKind, const char*> cases[] = {
      {"NOAUTH Authentication required.", ErrorKind::kUnauthorized, "redis://:password@"},
      {"WRONGPASS invalid username-password pair", ErrorKind::kUnauthorized, "Check user"},
      {"NOPERM this user has no permissions to run the 'eval' command", ErrorKind::kUnauthorized,
       "EVAL"},
      {"READONLY You can't write against a read only replica.", ErrorKind::kUpstreamFailed,
       "replica"},
      {"MOVED 3999 127.0.0.1:6381", ErrorKind::kUpstreamFailed, "cluster"},
      {"ERR increment or decrement would overflow", ErrorKind::kUpstreamFailed, "2^63-1"},
      {"ERR value is not an integer or out of range", ErrorKind::kUpstreamFailed, "no number"},
      {"OOM command not allowed", ErrorKind::kUpstreamFailed, "maxmemory"},
      {"ERR something new", ErrorKind::kUpstreamFailed, "something new"},
      {"ERR \x1b[31m", ErrorKind::kUpstreamFailed, "(not printable)"},
  };
  for (const auto& [text, kind, advice] : cases) {
    const base::Error error = redis::error_of(redis::error(text), "h:1");
    EXPECT_EQ(error.detail.find(".."), std::string::npos) << error.detail;
    EXPECT_EQ(error.kind, kind) << text;
    EXPECT_THAT(error.detail, AllOf(HasSubstr("h:1"), HasSubstr(advice)));
  }
}

RedisSetup good() {
  return {.maxmemory_policy = "noeviction",
          .appendonly = "yes",
          .appendfsync = "always",
          .save = "",
          .config_refusal = "",
          .info =
              "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n# Cluster\r\n"
              "cluster_enabled:0\r\n"};
}

TEST(RedisHealth, AGoodSetupGivesNoWarning) { EXPECT_THAT(warnings_of(good(), "h:1"), IsEmpty()); }

TEST(RedisHealth, WhatCanLoseATokenIsWarnedOfWithItsFix) {
  const std::pair<std::function<void(RedisSetup&)>, std::string> cases[] = {
      {[](RedisSetup& s) { s.maxmemory_policy = "allkeys-lru"; }, "tokens start again."},
      {[](RedisSetup& s) { s.maxmemory_policy = "volatile-ttl"; },
       "throws away locks that are held"},
      {[](RedisSetup& s) { s.appendonly = "no"; }, "persists nothing"},
      {[](RedisSetup& s) { s.appendonly = "no", s.save = "3600 1"; }, "snapshots"},
      {[](RedisSetup& s) { s.appendfsync = "everysec"; }, "2 seconds"},
      {[](RedisSetup& s) { s.info = "role:slave\r\nconnected_slaves:0\r\n"; }, "is a replica"},
      {[](RedisSetup& s) { s.info = "role:master\r\nconnected_slaves:2\r\n"; }, "promoted"},
      {[](RedisSetup& s) { s.info = "cluster_enabled:1\r\n"; }, "cluster"},
      {[](RedisSetup& s) { s = RedisSetup(), s.config_refusal = "NOPERM"; }, "(NOPERM)"},
  };
  for (const auto& [spoil, warning] : cases) {
    RedisSetup setup = good();
    spoil(setup);
    EXPECT_THAT(warnings_of(setup, "h:1"),
                ElementsAre(AllOf(HasSubstr("h:1"), HasSubstr(warning))));
  }
}

}  // namespace
}  // namespace fenceline::client
