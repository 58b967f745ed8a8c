#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <stop_token>
#include <thread>

#include "base/boottime_clock.h"
#include "client/sources/postgres/pg_target.h"
#include "tests/client/source_contract.h"
#include "tests/source_servers/postgres_server.h"

namespace fenceline::testing {
namespace {

using base::ErrorKind;
using base::FenceKey;
using base::Milliseconds;
using client::Grant;
using client::LeaseOrder;
using client::TokenSource;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

INSTANTIATE_TEST_SUITE_P(Postgres, SourceContract,
                         ::testing::Values(SourceCase{
                             "One", [] { return std::make_unique<PostgresServer>(); }}));

class PostgresTest : public ::testing::Test {
 public:
  static void TearDownTestSuite() { server_.reset(); }

 protected:
  static PostgresServer& server() {
    if (server_ == nullptr) {
      server_ = std::make_unique<PostgresServer>();
    }
    return *server_;
  }

  std::unique_ptr<TokenSource> open(const std::string& url) const {
    return client::make_source(url, clock_).value();
  }

  static LeaseOrder order(const std::string& key, const std::string& attempt = "attempt-1") {
    LeaseOrder order;
    order.keys = {FenceKey::parse(key).value()};
    order.holder = "holder";
    order.attempt = attempt;
    order.ttl = Milliseconds(30'000);
    return order;
  }

 private:
  static inline std::unique_ptr<PostgresServer> server_;
  base::BoottimeClock clock_;
};

TEST_F(PostgresTest, ARepeatedAttemptGetsItsTokenAgain) {
  const auto first = open(server().url())->acquire(order("repeated"), {});
  ASSERT_TRUE(first) << first.error().detail;
  const auto again = open(server().url())->acquire(order("repeated"), {});
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ(again->token, first->token);
  EXPECT_EQ(again->lease, first->lease);
  EXPECT_FALSE(open(server().url())->acquire(order("repeated", "attempt-2"), {}));
}

TEST_F(PostgresTest, TheRowKeepsTheTokenWhenNobodyHoldsTheKey) {
  const auto source = open(server().url());
  const auto first = source->acquire(order("kept"), {});
  ASSERT_TRUE(first) << first.error().detail;
  ASSERT_TRUE(source->release(*first));
  EXPECT_EQ(server().ask("SELECT token FROM fenceline_leases WHERE key = 'kept'"),
            first->token.text());
  // The same attempt after its end is a grant of its own.
  EXPECT_GT(source->acquire(order("kept"), {})->token, first->token);
}

TEST_F(PostgresTest, TheServersClockDecides) {
  const auto source = open(server().url());
  const auto grant = source->acquire(order("clock"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  // As if the server's clock had gone on by the ttl: the client's clock says that it is valid.
  (void)server().ask(
      "UPDATE fenceline_leases SET expires = expires - interval '30 s' WHERE key = 'clock'");
  const auto renewed = source->renew(*grant, {});
  ASSERT_FALSE(renewed);
  EXPECT_EQ(renewed.error().kind, ErrorKind::kLeaseEnded);
  const auto next = open(server().url())->acquire(order("clock", "attempt-2"), {});
  ASSERT_TRUE(next) << next.error().detail;
  EXPECT_GT(next->token, grant->token);
}

TEST_F(PostgresTest, ARenewalNeverShortensTheRowAndDoesNotBelieveTheCaller) {
  const auto source = open(server().url());
  auto grant = source->acquire(order("longer"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  const auto until = grant->valid_until;
  grant->ttl = Milliseconds(1'000);
  grant->valid_until += std::chrono::hours(1);
  const auto renewed = source->renew(*grant, {});
  ASSERT_TRUE(renewed) << renewed.error().detail;
  EXPECT_LT(renewed->valid_until, until);
  EXPECT_GT((*source->show(grant->keys.front()))->left, Milliseconds(20'000));
}

TEST_F(PostgresTest, TheTableCanBeChosen) {
  (void)server().ask("CREATE SCHEMA IF NOT EXISTS jobs");
  const auto source = open(server().url() + "?table=jobs.locks&connect_timeout=3");
  EXPECT_EQ(source->show(order("elsewhere").keys.front()).value(), std::nullopt);
  ASSERT_TRUE(source->acquire(order("elsewhere"), {}));
  EXPECT_EQ(server().ask("SELECT key FROM jobs.locks"), "elsewhere");
}

TEST_F(PostgresTest, WhoMayNotMakeTheTableIsToldTheSql) {
  (void)server().ask("DROP ROLE IF EXISTS worker");
  (void)server().ask("CREATE ROLE worker LOGIN PASSWORD 'w'");
  const auto source = open(server().url_for("worker:w", "?table=forbidden"));
  const auto refused = source->acquire(order("key"), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnauthorized);
  EXPECT_THAT(refused.error().detail, HasSubstr("CREATE TABLE IF NOT EXISTS \"forbidden\" (key"));
  EXPECT_THAT(refused.error().detail, HasSubstr("GRANT SELECT, INSERT, UPDATE ON forbidden TO"));

  // And with what the sentence says it works.
  const std::string& detail = refused.error().detail;
  const std::size_t begin = detail.find("CREATE TABLE");
  (void)server().ask(detail.substr(begin, detail.find("; GRANT") - begin));
  EXPECT_EQ(source->acquire(order("key"), {}).error().kind, ErrorKind::kUnauthorized);
  (void)server().ask("GRANT SELECT, INSERT, UPDATE ON forbidden TO worker");
  EXPECT_TRUE(source->acquire(order("key"), {}));
}

TEST_F(PostgresTest, AWrongPasswordIsNoFailureOfTheServer) {
  for (const char* who : {"postgres:wrong", "postgres", "nobody:x"}) {
    const auto refused = open(server().url_for(who))->acquire(order("key"), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kUnauthorized) << refused.error().detail;
    EXPECT_THAT(refused.error().detail, Not(HasSubstr("wrong")));
  }
}

TEST_F(PostgresTest, ATableOfSomethingElseIsNamed) {
  (void)server().ask("CREATE TABLE IF NOT EXISTS other (key text PRIMARY KEY, token bigint)");
  const auto refused = open(server().url() + "?table=other")->acquire(order("key"), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kMalformedRequest);
  EXPECT_THAT(refused.error().detail, HasSubstr("The table other is none of leases"));
}

TEST_F(PostgresTest, ATokenAtTheEndOfItsTypeIsNotGivenAgain) {
  const auto source = open(server().url());
  ASSERT_TRUE(source->release(source->acquire(order("end"), {}).value()));
  (void)server().ask("UPDATE fenceline_leases SET token = 9223372036854775807 WHERE key = 'end'");
  const auto refused = source->acquire(order("end"), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().detail, HasSubstr("end of bigint"));
}

TEST_F(PostgresTest, TheFirstServerThatTakesWritesIsUsed) {
  const auto source =
      open("postgres://postgres:geheim@127.0.0.1:1,127.0.0.1:" + std::to_string(server().port()) +
           "/postgres");
  const auto grant = source->acquire(order("second-host"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  EXPECT_TRUE(source->release(*grant));
}

TEST_F(PostgresTest, AServerThatDoesNotAnswerIsNotWaitedForLong) {
  const auto source = open(server().url() + "?connect_timeout=1");
  server().pause();
  const auto before = base::BoottimeClock().now();
  const auto refused = source->acquire(order("paused"), {});
  const auto took = base::BoottimeClock().now() - before;
  server().resume();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUpstreamTimeout) << refused.error().detail;
  EXPECT_LT(took, Milliseconds(5'000));
}

TEST_F(PostgresTest, AStopIsHeardWhileAStatementWaitsForARow) {
  const auto source = open(server().url());
  ASSERT_TRUE(source->release(source->acquire(order("locked"), {}).value()));
  auto blocker = std::async(std::launch::async, [] {
    return server().ask(
        "BEGIN; SELECT FROM fenceline_leases WHERE key = 'locked' FOR UPDATE; "
        "SELECT pg_sleep(3); COMMIT");
  });
  wait_until("the row to be locked", [] {
    return server().ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") ==
           "1";
  });
  std::stop_source stop;
  std::jthread stopper([&] {
    wait_until("the statement to wait", [] {
      return server().ask("SELECT count(*) FROM pg_locks WHERE NOT granted") != "0";
    });
    stop.request_stop();
  });
  const auto refused = source->acquire(order("locked", "attempt-2"), stop.get_token());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kClientGone) << refused.error().detail;
  EXPECT_EQ(blocker.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  blocker.get();
}

TEST_F(PostgresTest, AnUnloggedTableIsWarnedAbout) {
  const auto source = open(server().url() + "?table=fleeting");
  ASSERT_TRUE(source->acquire(order("key"), {}));
  EXPECT_THAT(source->warnings().value(), IsEmpty());
  (void)server().ask("ALTER TABLE fleeting SET UNLOGGED");
  EXPECT_THAT(source->warnings().value(), ElementsAre(HasSubstr("fleeting is UNLOGGED")));
}

TEST_F(PostgresTest, WhatIsSetForTheRoleIsWarnedAbout) {
  (void)server().ask("DROP ROLE IF EXISTS careless");
  (void)server().ask("CREATE ROLE careless LOGIN PASSWORD 'c'");
  (void)server().ask("ALTER ROLE careless SET synchronous_commit = off");
  EXPECT_THAT(open(server().url_for("careless:c"))->warnings().value(),
              ElementsAre(HasSubstr("synchronous_commit is off")));
}

TEST(PostgresSetupTest, AServerThatForgetsIsWarnedAboutAndAStandbyRefused) {
  const base::BoottimeClock clock;
  PostgresServer server({"fsync=off", "full_page_writes=off"});
  const auto source = client::make_source(server.url(), clock).value();
  EXPECT_THAT(source->warnings().value(),
              ElementsAre(HasSubstr("fsync is off"), HasSubstr("full_page_writes is off")));

  server.become_standby();
  for (const char* options : {"", "?target_session_attrs=any"}) {
    const auto on_standby = client::make_source(server.url() + options, clock).value();
    const auto refused = on_standby->warnings();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kUpstreamFailed) << refused.error().detail;
    LeaseOrder order;
    order.keys = {FenceKey::parse("key").value()};
    order.holder = "holder";
    order.attempt = "attempt";
    order.ttl = Milliseconds(1'000);
    const auto grant = on_standby->acquire(order, {});
    ASSERT_FALSE(grant);
    EXPECT_EQ(grant.error().kind, ErrorKind::kUpstreamFailed) << grant.error().detail;
  }
}

}  // namespace
}  // namespace fenceline::testing
