#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <future>

#include "base/base64.h"
#include "base/boottime_clock.h"
#include "client/sources/etcd/etcd_requests.h"
#include "tests/client/source_contract.h"
#include "tests/source_servers/etcd_server.h"
#include "tests/support/tls_client.h"

namespace fenceline::testing {
namespace {

using base::ErrorKind;
using base::FenceKey;
using base::Milliseconds;
using client::Grant;
using client::LeaseOrder;
using client::TokenSource;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

INSTANTIATE_TEST_SUITE_P(Etcd, SourceContract,
                         ::testing::Values(SourceCase{"One", [] {
                                                        return std::make_unique<EtcdServer>(
                                                            EtcdServer::Settings{});
                                                      }}));

std::string base64(std::string_view bytes) {
  std::string text;
  base::append_base64(text, bytes);
  return text;
}

class EtcdTest : public ::testing::Test {
 public:
  static void TearDownTestSuite() { server_.reset(); }

 protected:
  static EtcdServer& server() {
    if (server_ == nullptr) {
      server_ = std::make_unique<EtcdServer>(EtcdServer::Settings{});
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

  /// What etcd has under the name of the grant.
  static boost::json::value entry_of(const Grant& grant) {
    const auto names = client::make_etcd_names("fenceline/", grant.keys.front(),
                                               client::parse_etcd_lease(grant.lease).value());
    return boost::json::parse(
        server().post("/v3/kv/range", fmt::format(R"({{"key":"{}"}})", base64(names.own))));
  }

 private:
  static inline std::unique_ptr<EtcdServer> server_;
  base::BoottimeClock clock_;
};

TEST_F(EtcdTest, TheTokenIsTheCreateRevisionOfTheLocksKey) {
  const auto source = open(server().url());
  const auto grant = source->acquire(order("revision"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  EXPECT_EQ(entry_of(*grant).at("kvs").at(0).at("create_revision").as_string(),
            grant->token.text());
  ASSERT_TRUE(source->renew(*grant, {}));
  ASSERT_TRUE(source->release(*grant));
  EXPECT_FALSE(entry_of(*grant).as_object().contains("kvs"));
  // The key is gone, and its numbers go on.
  EXPECT_GT(source->acquire(order("revision"), {})->token, grant->token);
}

TEST_F(EtcdTest, ARepeatedAttemptGetsItsTokenAgain) {
  const auto first = open(server().url())->acquire(order("repeated"), {});
  ASSERT_TRUE(first) << first.error().detail;
  const auto again = open(server().url())->acquire(order("repeated"), {});
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ(again->token, first->token);
  EXPECT_EQ(again->lease, first->lease);
}

TEST_F(EtcdTest, ATtlIsInWholeSeconds) {
  LeaseOrder fine = order("fine");
  fine.ttl = Milliseconds(1'500);
  const auto refused = open(server().url())->acquire(fine, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kMalformedRequest);
  EXPECT_THAT(refused.error().detail, HasSubstr("1500 ms are none; take 2 s"));
}

TEST_F(EtcdTest, ALockThatSomebodyDeletedIsNotRenewedThoughItsLeaseLives) {
  const auto source = open(server().url());
  const auto grant = source->acquire(order("deleted"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  const auto names = client::make_etcd_names("fenceline/", grant->keys.front(),
                                             client::parse_etcd_lease(grant->lease).value());
  (void)server().post("/v3/kv/deleterange", fmt::format(R"({{"key":"{}"}})", base64(names.own)));
  const auto renewed = source->renew(*grant, {});
  ASSERT_FALSE(renewed);
  EXPECT_EQ(renewed.error().kind, ErrorKind::kLeaseEnded);
  EXPECT_EQ(source->release(*grant).error().kind, ErrorKind::kLeaseEnded);
}

TEST_F(EtcdTest, AWaiterWhoseLeaseHasEndedQueuesUpAgain) {
  const auto source = open(server().url());
  const auto held = source->acquire(order("lost-place"), {});
  ASSERT_TRUE(held) << held.error().detail;
  auto waiter = std::async(std::launch::async, [this] {
    LeaseOrder mine = order("lost-place", "attempt-2");
    mine.wait = Milliseconds(30'000);
    return open(server().url())->acquire(mine, {});
  });
  const std::int64_t lease = client::etcd_lease_of("attempt-2", held->keys.front());
  const std::string revoke = fmt::format(R"({{"ID":"{}"}})", lease);
  const auto names = client::make_etcd_names("fenceline/", held->keys.front(), lease);
  const std::string own = fmt::format(R"({{"key":"{}"}})", base64(names.own));
  const auto is_there = [&] {
    return server().post("/v3/kv/range", own).find("kvs") != std::string::npos;
  };
  wait_until("the waiter to stand in line", is_there);
  (void)server().post("/v3/lease/revoke", revoke);
  wait_until("the waiter to come back", is_there);
  ASSERT_TRUE(source->release(*held));
  const auto grant = waiter.get();
  ASSERT_TRUE(grant) << grant.error().detail;
  EXPECT_GT(grant->token, held->token);
}

TEST_F(EtcdTest, APrefixIsAnotherSpaceOfKeys) {
  ASSERT_TRUE(open(server().url())->acquire(order("spaces"), {}));
  EXPECT_TRUE(open(server().url() + "?prefix=other/")->acquire(order("spaces", "attempt-2"), {}));
}

TEST_F(EtcdTest, AnAlarmIsWarnedAbout) {
  const auto source = open(server().url());
  EXPECT_THAT(source->warnings().value(), IsEmpty());
  const auto alarm = [](std::string_view action) {
    return server().post(
        "/v3/maintenance/alarm",
        fmt::format(R"({{"action":"{}","memberID":"1","alarm":"NOSPACE"}})", action));
  };
  (void)alarm("ACTIVATE");
  EXPECT_THAT(source->warnings().value(), ElementsAre(HasSubstr("NOSPACE is on")));
  const auto refused = source->acquire(order("full"), {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUpstreamFailed) << refused.error().detail;
  EXPECT_THAT(refused.error().detail, HasSubstr("space"));
  (void)alarm("DEACTIVATE");
  EXPECT_THAT(source->warnings().value(), IsEmpty());
}

/// Three members with users and roles.
class EtcdClusterTest : public EtcdTest {
 public:
  static void TearDownTestSuite() { cluster_.reset(); }

 protected:
  static EtcdServer& cluster() {
    if (cluster_ == nullptr) {
      EtcdServer::Settings settings;
      settings.members = 3;
      cluster_ = std::make_unique<EtcdServer>(settings);
      turn_on_auth(*cluster_);
    }
    return *cluster_;
  }

  std::unique_ptr<TokenSource> login(const std::string& user_and_password) const {
    return open(fmt::format("etcd://{}@{}", user_and_password, cluster().addresses()));
  }

 private:
  static void turn_on_auth(const EtcdServer& server) {
    for (const char* user : {"root", "worker", "stranger"}) {
      (void)server.post("/v3/auth/user/add",
                        fmt::format(R"({{"name":"{0}","password":"{0}-pw"}})", user));
      (void)server.post("/v3/auth/role/add", fmt::format(R"({{"name":"{}"}})", user));
      (void)server.post("/v3/auth/user/grant",
                        fmt::format(R"({{"user":"{0}","role":"{0}"}})", user));
    }
    (void)server.post("/v3/auth/role/grant",
                      fmt::format(R"({{"name":"worker","perm":{{"permType":"READWRITE",)"
                                  R"("key":"{}","range_end":"{}"}}}})",
                                  base64("fenceline/"), base64("fenceline0")));
    (void)server.post("/v3/auth/enable", "{}");
  }

  static inline std::unique_ptr<EtcdServer> cluster_;
};

TEST_F(EtcdClusterTest, WhoMayNotIsRefused) {
  const auto grant = login("worker:worker-pw")->acquire(order("allowed"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  for (const char* who : {"worker:wrong", "nobody:x", "stranger:stranger-pw"}) {
    const auto refused = login(who)->acquire(order("forbidden"), {});
    ASSERT_FALSE(refused) << who;
    EXPECT_EQ(refused.error().kind, ErrorKind::kUnauthorized) << refused.error().detail;
    EXPECT_THAT(refused.error().detail, Not(HasSubstr("wrong")));
  }
  const auto nobody = open(cluster().url())->acquire(order("forbidden"), {});
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().kind, ErrorKind::kUnauthorized) << nobody.error().detail;
}

TEST_F(EtcdClusterTest, ItGoesOnWithoutItsLeader) {
  const auto a = login("worker:worker-pw");
  const auto b = login("worker:worker-pw");
  auto grant = a->acquire(order("leader"), {});
  ASSERT_TRUE(grant) << grant.error().detail;

  const std::size_t leader = cluster().leader();
  cluster().kill_member(leader);
  const auto renewed = a->renew(*grant, {});
  ASSERT_TRUE(renewed) << renewed.error().detail;
  EXPECT_EQ(renewed->token, grant->token);
  const auto other = b->acquire(order("leader", "attempt-2"), {});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::kLeaseHeld) << other.error().detail;
  ASSERT_TRUE(a->release(*renewed));
  const auto next = b->acquire(order("leader", "attempt-2"), {});
  ASSERT_TRUE(next) << next.error().detail;
  EXPECT_GT(next->token, grant->token);
  cluster().restart_member(leader);
}

TEST_F(EtcdClusterTest, AMemberThatDoesNotAnswerIsPassedOver) {
  const auto source = login("worker:worker-pw");
  const auto grant = source->acquire(order("frozen"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  const std::size_t leader = cluster().leader();
  cluster().pause_member(0);
  const auto renewed = source->renew(*grant, {});
  const auto other = login("worker:worker-pw")->acquire(order("frozen", "attempt-2"), {});
  cluster().resume_member(0);
  ASSERT_TRUE(renewed) << renewed.error().detail << ", the leader was " << leader;
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::kLeaseHeld) << other.error().detail;
}

TEST_F(EtcdClusterTest, WithoutAMajorityNothingIsGranted) {
  const auto source = login("worker:worker-pw");
  const auto grant = source->acquire(order("minority"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  cluster().kill_member(0);
  cluster().kill_member(1);
  const auto refused = source->acquire(order("alone"), {});
  EXPECT_FALSE(refused);
  const auto renewed = source->renew(*grant, {});
  ASSERT_FALSE(renewed);
  EXPECT_NE(renewed.error().kind, ErrorKind::kLeaseEnded) << renewed.error().detail;
  cluster().restart_member(0);
  cluster().restart_member(1);
}

TEST_F(EtcdClusterTest, ItLogsInAgainWhenItsSessionIsForgotten) {
  const auto source = login("worker:worker-pw");
  const auto grant = source->acquire(order("session"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  cluster().kill();  // The members keep sessions in memory.
  cluster().restart();
  const auto renewed = source->renew(*grant, {});
  ASSERT_TRUE(renewed) << renewed.error().detail;
  EXPECT_TRUE(source->release(*renewed));
}

TEST_F(EtcdTest, OverTls) {
  const TempFolder folder;
  const TestCertificate files = make_self_signed(folder.path(), "etcd");
  EtcdServer::Settings settings;
  settings.certificate = files.certificate;
  settings.key = files.key;
  const EtcdServer server(settings);
  const auto source = open(server.url() + "?ca=" + files.certificate);
  const auto grant = source->acquire(order("tls"), {});
  ASSERT_TRUE(grant) << grant.error().detail;
  EXPECT_TRUE(source->release(*grant));

  const auto distrusted = open(server.url())->acquire(order("tls"), {});
  ASSERT_FALSE(distrusted);
  EXPECT_EQ(distrusted.error().kind, ErrorKind::kUpstreamFailed) << distrusted.error().detail;
}

}  // namespace
}  // namespace fenceline::testing
