// The lease service of the real server: what a zombie meets, what survives, who is next.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/system/lease_server.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kFile = "/exports/acme/report.csv";

/// A worker that knows nothing of fences: a shell that takes a lease, waits for a line, writes, and
/// says the status. Stopped in between, it does not know that it lost.
ChildProcess worker(LeaseServer& server, const std::string& token) {
  const std::string url = fmt::format("http://127.0.0.1:{}{}", server.process().port(), kFile);
  return ChildProcess({"sh", "-c",
                       fmt::format("read go; curl -s -o {} -w '%{{http_code}}' -X PUT -d late "
                                   "-H 'Fencing-Token: {}' {}",
                                   server.at("answer"), token, url)},
                      server.at("worker"), ChildProcess::Input::kFed);
}

TEST(LeaseStoryTest, TheZombieIsFencedAtTakeover) {
  LeaseServer server;
  const Response a = server.take("exports/acme", "a", "300ms");
  ASSERT_EQ(a.status, 201) << a.body;
  const std::int64_t first = token_in(a);
  EXPECT_EQ(server.put(kFile, first, "of a").status, 201);
  EXPECT_EQ(server.renew(a.field("Location")).status, 200);

  ChildProcess zombie = worker(server, text_in(a, "token"));
  zombie.pause();
  const Response b = server.take("exports/acme", "b", "30s", R"(,"wait":"20s")");
  ASSERT_EQ(b.status, 201) << b.body;
  EXPECT_GT(token_in(b), first);
  EXPECT_EQ(server.mark("exports/acme"), token_in(b)) << "at takeover, not at the first write of b";

  zombie.resume();
  zombie.feed("go\n");
  EXPECT_EQ(zombie.wait(), 0);
  EXPECT_EQ(zombie.output(), "412") << contents_of(server.at("answer"));
  EXPECT_EQ(server.content(kFile), "of a");
  EXPECT_EQ(server.renew(a.field("Location")).status, 410);
  EXPECT_EQ(server.release(a.field("Location")).status, 410);
  EXPECT_EQ(server.put(kFile, token_in(b), "of b").status, 204);
  EXPECT_EQ(server.content(kFile), "of b");

  const std::string log = server.process().log();
  EXPECT_THAT(log, HasSubstr(" lease_granted: "));
  EXPECT_THAT(log, HasSubstr(" lease_expired: "));
  EXPECT_EQ(server.count("fenceline_lease_grants_total"), 2);
  EXPECT_EQ(server.count("fenceline_lease_ends_total{how=\"expired\"}"), 1);
  EXPECT_EQ(server.count("fenceline_lease_renewals_total"), 1);
  EXPECT_EQ(server.count("fenceline_lease_refusals_total{reason=\"lease-ended\"}"), 2);
  EXPECT_EQ(server.count("fenceline_leases_held"), 1);
}

TEST(LeaseStoryTest, AnExpiredLeaseCannotBeRenewedThoughNobodyHasIt) {
  LeaseServer server;
  const Response a = server.take("k", "a", "50ms");
  ASSERT_EQ(a.status, 201) << a.body;
  wait_until("its end", [&] { return server.show("k").status == 404; });
  EXPECT_EQ(server.renew(a.field("Location")).status, 410);
}

TEST(LeaseStoryTest, ALeaseOutlivesTheServerAndARetryGetsItBack) {
  LeaseServer server;
  const std::string more = R"(,"request_id":"attempt-1")";
  const Response a = server.take("exports/acme", "a", "30s", more);
  ASSERT_EQ(a.status, 201) << a.body;
  server.kill_and_restart();
  const Response shown = server.show("exports/acme");
  EXPECT_EQ(shown.status, 200);
  EXPECT_GT(number_in(shown, "left_ms"), 25'000) << "a restart gives the whole ttl";
  EXPECT_EQ(text_in(shown, "holder"), "a");
  EXPECT_THAT(shown.body, Not(HasSubstr(text_in(a, "lease"))));
  const Response again = server.take("exports/acme", "a", "30s", more);
  EXPECT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(text_in(again, "token"), text_in(a, "token"));
  EXPECT_EQ(text_in(again, "lease"), text_in(a, "lease"));
  EXPECT_EQ(again.field("Location"), a.field("Location"));
  const Response b = server.take("exports/acme", "b");
  EXPECT_EQ(b.status, 409) << b.body;
  EXPECT_THAT(text_in(b, "type"), HasSubstr("lease-held"));
  EXPECT_THAT(text_in(b, "detail"), HasSubstr("a"));
  EXPECT_NE(b.field("Retry-After"), "");
  EXPECT_EQ(server.renew(a.field("Location")).status, 200);
  EXPECT_EQ(server.release(a.field("Location")).status, 204);
  EXPECT_EQ(server.show("exports/acme").status, 404);
  EXPECT_GT(token_in(server.take("exports/acme", "b")), token_in(a));
}

TEST(LeaseStoryTest, ATokenIsAboveEveryOneThatWasSeen) {
  LeaseServer server;
  EXPECT_EQ(server.put(kFile, 1'000'000, "from another source").status, 201);
  const Response a = server.take("exports/acme", "a");
  ASSERT_EQ(a.status, 201);
  EXPECT_GT(token_in(a), 1'000'000);
  EXPECT_EQ(server.put(kFile, 1'000'000, "late").status, 412);
}

TEST(LeaseStoryTest, WhoWaitsIsServedInOrder) {
  LeaseServer server;
  const Response held = server.take("k", "first");
  ASSERT_EQ(held.status, 201);
  std::vector<RawClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(server.connect());
    clients.back().send(
        post_json("/leases/k", lease_order(fmt::format("w{}", i), "30s", R"(,"wait":"20s")")));
    wait_until("one more waits", [&] { return server.count("fenceline_lease_waiters") == i + 1; });
  }
  EXPECT_EQ(number_in(server.show("k"), "waiting"), 3);
  std::string location = held.field("Location");
  std::int64_t token = token_in(held);
  for (RawClient& client : clients) {
    ASSERT_EQ(server.release(location).status, 204);
    const Response granted = client.receive();
    ASSERT_EQ(granted.status, 201) << granted.body;
    EXPECT_GT(token_in(granted), token);
    token = token_in(granted);
    location = granted.field("Location");
  }
  EXPECT_EQ(text_in(server.show("k"), "holder"), "w2");
}

TEST(LeaseStoryTest, AWaiterThatGoesIsPassedOver) {
  LeaseServer server;
  const Response held = server.take("k", "first");
  RawClient gone = server.connect();
  gone.send(post_json("/leases/k", lease_order("gone", "30s", R"(,"wait":"20s")")));
  wait_until("it waits", [&] { return server.count("fenceline_lease_waiters") == 1; });
  RawClient next = server.connect();
  next.send(post_json("/leases/k", lease_order("next", "30s", R"(,"wait":"20s")")));
  wait_until("two wait", [&] { return server.count("fenceline_lease_waiters") == 2; });
  gone.close();
  wait_until("one waits", [&] { return server.count("fenceline_lease_waiters") == 1; });
  EXPECT_EQ(server.release(held.field("Location")).status, 204);
  EXPECT_EQ(next.receive().status, 201);
  EXPECT_EQ(text_in(server.show("k"), "holder"), "next");
}

TEST(LeaseStoryTest, AWaitThatIsOverSaysWhoHoldsIt) {
  LeaseServer server;
  ASSERT_EQ(server.take("k", "holder-7").status, 201);
  const Response late = server.take("k", "b", "30s", R"(,"wait":"100ms")");
  EXPECT_EQ(late.status, 409);
  EXPECT_THAT(text_in(late, "detail"), HasSubstr("holder-7"));
  EXPECT_EQ(server.count("fenceline_lease_waiters"), 0);
}

TEST(LeaseStoryTest, SeveralKeysAreOneLease) {
  LeaseServer server;
  const auto both = [&server](std::string_view holder) {
    return server.connect().exchange(post_json(
        "/leases", lease_order(holder, "30s", R"(,"keys":["exports/acme","exports/beta"])")));
  };
  const Response a = both("a");
  ASSERT_EQ(a.status, 201) << a.body;
  for (const std::string key : {"exports/acme", "exports/beta"}) {
    EXPECT_EQ(server.take(key, "b").status, 409) << key;
    EXPECT_EQ(server.mark(key), token_in(a)) << key;
  }
  EXPECT_EQ(both("b").status, 409);
  EXPECT_EQ(server.renew(a.field("Location")).status, 200);
  EXPECT_EQ(server.release(a.field("Location")).status, 204);
  EXPECT_EQ(both("b").status, 201);
  const Response listed =
      server.connect().exchange("GET /leases?prefix=exports/&limit=1 HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(text_in(listed, "next"), "exports/acme");
}

TEST(LeaseStoryTest, ARevokeFencesAtOnceAndIsLogged) {
  LeaseServer server;
  const Response a = server.take("exports/acme", "a");
  ASSERT_EQ(a.status, 201);
  EXPECT_EQ(server.put(kFile, token_in(a), "of a").status, 201);
  const Response revoked = server.revoke("exports/acme");
  ASSERT_EQ(revoked.status, 200) << revoked.body;
  EXPECT_EQ(text_in(revoked, "revoked"), text_in(a, "token"));
  EXPECT_EQ(server.put(kFile, token_in(a), "late").status, 412);
  EXPECT_EQ(server.renew(a.field("Location")).status, 410);
  EXPECT_EQ(server.revoke("exports/acme").status, 404);
  const std::string log = server.process().log();
  EXPECT_THAT(log, HasSubstr(" lease_revoked: "));
  EXPECT_THAT(log, HasSubstr("the host is gone"));
  EXPECT_THAT(log, HasSubstr("by=eve"));
  const Response b = server.take("exports/acme", "b");
  ASSERT_EQ(b.status, 201) << b.body;
  EXPECT_GT(token_in(b), token_in(revoked));
}

TEST(LeaseStoryTest, NobodyGetsAKeyDuringItsLockDelay) {
  LeaseServer server("{min_ttl: 10ms, lock_delay: 20s}");
  ASSERT_EQ(server.take("k", "a", "50ms").status, 201);
  wait_until("its end", [&] { return number_in(server.show("k"), "lock_delay_left_ms") > 0; });
  EXPECT_EQ(server.take("k", "b").status, 409);
  server.kill_and_restart();
  EXPECT_EQ(server.take("k", "b").status, 409) << "a lock-delay survives";
  ASSERT_EQ(server.take("other", "a", "50ms", R"(,"lock_delay":"0s")").status, 201);
  EXPECT_EQ(server.take("other", "b", "30s", R"(,"wait":"20s")").status, 201);
}

}  // namespace
}  // namespace fenceline::testing
