#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <stop_token>

#include "base/boottime_clock.h"
#include "client/sources/zookeeper/zk_names.h"
#include "client/sources/zookeeper/zk_session.h"
#include "tests/client/source_contract.h"
#include "tests/source_servers/zookeeper_server.h"

namespace fenceline::testing {
namespace {

using base::ErrorKind;
using base::FenceKey;
using base::Milliseconds;
using client::Grant;
using client::LeaseOrder;
using client::StopEvent;
using client::TokenSource;
using client::ZkAnswer;
using client::ZkError;
using client::ZkOp;
using client::ZkReader;
using client::ZkSession;

INSTANTIATE_TEST_SUITE_P(ZooKeeper, SourceContract,
                         ::testing::Values(SourceCase{
                             "One", [] { return std::make_unique<ZooKeeperServer>(); }}));

class ZooKeeperTest : public ::testing::Test {
 public:
  static void TearDownTestSuite() { server_.reset(); }

 protected:
  static ZooKeeperServer& server() {
    if (server_ == nullptr) {
      server_ = std::make_unique<ZooKeeperServer>();
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
    order.ttl = Milliseconds(20'000);
    return order;
  }

  /// A session past the source.
  static std::unique_ptr<ZkSession> direct(const std::string& login = {}) {
    const auto url = client::parse_source_url(server().url(), 0);
    return client::make_zk_session({.servers = url->hosts, .login = login}, Milliseconds(10'000));
  }

  static ZkAnswer ask(ZkSession& session, ZkOp op, const std::string& body) {
    const StopEvent never{std::stop_token()};
    return session.call(op, body, true, Milliseconds(5'000), never).value();
  }

  static std::string place_of(const Grant& grant) {
    return "/fenceline/" + client::zk_node_name(grant.keys.front()) + '/' +
           client::parse_zk_lease(grant.lease).value().place;
  }

  [[nodiscard]] base::MonotonicTime now() const { return clock_.now(); }

 private:
  static inline std::unique_ptr<ZooKeeperServer> server_;
  base::BoottimeClock clock_;
};

TEST_F(ZooKeeperTest, TheTokenIsTheCzxidOfThePlace) {
  const auto source = open(server().url());
  const auto grant = source->acquire(order("czxid"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  const auto session = direct();
  const ZkAnswer answer =
      ask(*session, ZkOp::kExists, client::zk_read_body(place_of(*grant), false));
  ASSERT_EQ(answer.error, ZkError::kOk);
  ZkReader reader(answer.body);
  EXPECT_EQ(client::read_zk_stat(reader).czxid, grant->token.value());
}

TEST_F(ZooKeeperTest, TokensRiseAlthoughTheQueueWasDeletedAndItsNumbersBeginAgain) {
  const auto source = open(server().url());
  const auto first = source->acquire(order("recreated"), {});
  ASSERT_TRUE(first) << first.error().detail;
  ASSERT_TRUE(source->release(*first));
  const auto session = direct();
  ASSERT_EQ(ask(*session, ZkOp::kDelete, client::zk_delete_body("/fenceline/recreated")).error,
            ZkError::kOk);
  const auto second = source->acquire(order("recreated"), {});
  ASSERT_TRUE(second) << second.error().detail;
  EXPECT_EQ(client::parse_zk_lease(second->lease)->place.substr(17), "0000000000");
  EXPECT_GT(second->token, first->token);
}

TEST_F(ZooKeeperTest, TheTtlIsWhatTheServerAgreedTo) {
  const auto source = open(server().url());
  LeaseOrder shorter = order("short");
  shorter.ttl = Milliseconds(300);
  LeaseOrder longer = order("long");
  longer.ttl = Milliseconds(2'500'000'000);
  EXPECT_EQ(source->acquire(shorter, {})->ttl, Milliseconds(1'000));
  EXPECT_EQ(source->acquire(longer, {})->ttl, Milliseconds(60'000));
}

TEST_F(ZooKeeperTest, AnotherProcessCanRenewAndRelease) {
  const auto grant = open(server().url())->acquire(order("handed-on"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  const auto renewed = open(server().url())->renew(*grant, {});
  ASSERT_TRUE(renewed) << renewed.error().detail;
  EXPECT_EQ(renewed->token, grant->token);
  EXPECT_TRUE(open(server().url())->release(*renewed));
  EXPECT_EQ(open(server().url())->show(grant->keys.front()).value(), std::nullopt);
}

TEST_F(ZooKeeperTest, AMadeUpLeaseIsNone) {
  auto grant = open(server().url())->acquire(order("made-up"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  Grant other = *grant;
  other.lease.replace(17, 4, "0000");  // The session's password.
  EXPECT_EQ(open(server().url())->renew(other, {}).error().kind, ErrorKind::kLeaseEnded);
  EXPECT_EQ(open(server().url())->release(other).error().kind, ErrorKind::kLeaseEnded);
  other.lease = "nonsense";
  EXPECT_EQ(open(server().url())->renew(other, {}).error().kind, ErrorKind::kLeaseEnded);
  EXPECT_TRUE(open(server().url())->renew(*grant, {}));
}

TEST_F(ZooKeeperTest, APlaceThatSomebodyDeletedIsNotRenewed) {
  const auto source = open(server().url());
  const auto grant = source->acquire(order("deleted"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  const auto session = direct();
  ASSERT_EQ(ask(*session, ZkOp::kDelete, client::zk_delete_body(place_of(*grant))).error,
            ZkError::kOk);
  EXPECT_EQ(source->renew(*grant, {}).error().kind, ErrorKind::kLeaseEnded);
  EXPECT_EQ(source->release(*grant).error().kind, ErrorKind::kLeaseEnded);
}

TEST_F(ZooKeeperTest, AServerThatIsFrozenBeyondTheTtlGivesFullTimeAgainOrEndsTheLease) {
  // Nobody can renew at a frozen server; when it goes on, it and its holder agree.
  const auto source = open(server().url());
  LeaseOrder mine = order("frozen");
  mine.ttl = Milliseconds(1'000);
  const auto grant = source->acquire(mine, {});
  ASSERT_TRUE(grant) << grant.error().detail;
  server().pause_server(0);
  wait_until("the ttl to pass", [&] { return now() > grant->valid_until + grant->ttl; });
  server().resume_server(0);
  const auto renewed = source->renew(*grant, {});
  const auto other = open(server().url())->acquire(order("frozen", "attempt-2"), {});
  EXPECT_NE(renewed.has_value(), other.has_value());
}

TEST_F(ZooKeeperTest, AWaiterPausedBeyondItsSessionQueuesUpAgain) {
  const auto held = open(server().url())->acquire(order("paused"), {});
  ASSERT_TRUE(held) << held.error().detail;
  auto waiter = std::async(std::launch::async, [this] {
    LeaseOrder mine = order("paused", "attempt-2");
    mine.ttl = Milliseconds(5'000);
    mine.wait = Milliseconds(30'000);
    return open(server().url())->acquire(mine, {});
  });
  // As if it had been paused: its place is deleted with its session.
  const auto session = direct();
  const auto places = [&] {
    const ZkAnswer answer =
        ask(*session, ZkOp::kGetChildren, client::zk_read_body("/fenceline/paused", false));
    return client::zk_in_order(ZkReader(answer.body).texts());
  };
  std::string place;
  wait_until("the waiter to stand in line", [&] {
    const auto names = places();
    place = names.empty() ? "" : names.back();
    return names.size() == 2;
  });
  ASSERT_EQ(
      ask(*session, ZkOp::kDelete, client::zk_delete_body("/fenceline/paused/" + place)).error,
      ZkError::kOk);
  wait_until("the waiter to come back", [&] { return places().size() == 2; });
  ASSERT_TRUE(open(server().url())->release(*held));
  const auto grant = waiter.get();
  ASSERT_TRUE(grant) << grant.error().detail;
  EXPECT_GT(grant->token, held->token);
}

TEST_F(ZooKeeperTest, AChrootAndAPrefixAreSpacesOfTheirOwn) {
  const auto plain = open(server().url())->acquire(order("spaces"), {});
  ASSERT_TRUE(plain) << plain.error().detail;
  const auto rooted = open(server().url() + "/app/locks?prefix=a/b")->acquire(order("spaces"), {});
  ASSERT_TRUE(rooted) << rooted.error().detail;
  const auto session = direct();
  EXPECT_EQ(
      ask(*session, ZkOp::kExists, client::zk_read_body("/app/locks/a/b/spaces", false)).error,
      ZkError::kOk);
}

TEST_F(ZooKeeperTest, WithALoginThePlaceIsClosedToOthers) {
  const auto source = open("zookeeper://worker:secret@" + server().addresses() + "?prefix=private");
  const auto grant = source->acquire(order("closed"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  EXPECT_TRUE(source->renew(*grant, {}));
  const auto refused =
      open(server().url() + "?prefix=private")->acquire(order("closed", "attempt-2"), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnauthorized) << refused.error().detail;
  EXPECT_TRUE(source->release(*grant));
}

TEST(ZooKeeperEnsembleTest, ItGoesOnWithoutOneServerAndWaitsWithoutTwo) {
  const base::BoottimeClock clock;
  ZooKeeperServer ensemble(3);
  const auto source = client::make_source(ensemble.url(), clock).value();
  LeaseOrder order;
  order.keys = {FenceKey::parse("ensemble").value()};
  order.holder = "holder";
  order.attempt = "attempt-1";
  order.ttl = Milliseconds(20'000);
  const auto grant = source->acquire(order, {});
  ASSERT_TRUE(grant) << grant.error().detail;

  ensemble.kill_server(0);  // That is where the session is.
  auto renewed = source->renew(*grant, {});
  wait_until("a renewal by the others", [&] {
    renewed = source->renew(*grant, {});
    return renewed.has_value() || renewed.error().kind == ErrorKind::kLeaseEnded;
  });
  ASSERT_TRUE(renewed) << renewed.error().detail;
  const auto other = client::make_source(ensemble.url(), clock).value();
  order.attempt = "attempt-2";
  EXPECT_EQ(other->acquire(order, {}).error().kind, ErrorKind::kLeaseHeld);
  ASSERT_TRUE(source->release(*renewed));
  const auto next = other->acquire(order, {});
  ASSERT_TRUE(next) << next.error().detail;
  EXPECT_GT(next->token, grant->token);

  ensemble.kill_server(1);
  order.attempt = "attempt-3";
  order.keys = {FenceKey::parse("alone").value()};
  const auto refused = source->acquire(order, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().kind,
              ::testing::AnyOf(ErrorKind::kUpstreamFailed, ErrorKind::kUpstreamTimeout))
      << refused.error().detail;
}

}  // namespace
}  // namespace fenceline::testing
