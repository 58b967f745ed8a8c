// The contract of token sources in front of the real fenceline server, and what only it can do.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <memory>
#include <optional>

#include "client/sources/fenceline_service.h"
#include "tests/client/fenceline_server.h"
#include "tests/client/source_contract.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {
namespace {

using base::ErrorKind;
using base::Milliseconds;
using client::Grant;
using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Fenceline, SourceContract,
                         ::testing::Values(SourceCase{
                             "One", [] { return std::make_unique<FencelineServer>(); }}));

class FencelineSourceTest : public ::testing::Test {
 protected:
  static client::LeaseOrder order(const std::string& key, const std::string& holder,
                                  Milliseconds wait = Milliseconds(0)) {
    client::LeaseOrder order;
    order.keys = {base::FenceKey::parse(key).value()};
    order.holder = holder;
    order.attempt = "attempt-of-" + holder;
    order.ttl = Milliseconds(30'000);
    order.wait = wait;
    return order;
  }

  [[nodiscard]] std::unique_ptr<client::TokenSource> open(const std::string& options = {}) const {
    auto source = client::make_source(server_.url() + options, clock_);
    if (!source) {
      throw std::runtime_error(source.error().detail);
    }
    return std::move(*source);
  }

  base::BoottimeClock clock_;
  FencelineServer server_;
};

TEST_F(FencelineSourceTest, ARepeatedAttemptGetsTheSameLease) {
  const auto first = open()->acquire(order("k", "a"), {});
  ASSERT_TRUE(first) << first.error().detail;
  const auto again = open()->acquire(order("k", "a"), {});
  ASSERT_TRUE(again) << again.error().detail;
  EXPECT_EQ(again->lease, first->lease);
  EXPECT_EQ(again->token, first->token);
}

TEST_F(FencelineSourceTest, ALongWaitKeepsItsPlaceFromOneRequestToTheNext) {
  const auto a = open();
  const auto held = a->acquire(order("k", "a"), {});
  ASSERT_TRUE(held);
  // Requests of a second each; b asks several times before c comes.
  const auto wait_for_it = [&](const std::string& holder) {
    const auto source = open("?poll=1");
    auto grant = source->acquire(order("k", holder, Milliseconds(30'000)), {});
    EXPECT_TRUE(grant) << grant.error().detail;
    const auto token = grant->token;
    EXPECT_TRUE(source->release(*grant));
    return token;
  };
  auto b = std::async(std::launch::async, wait_for_it, "b");
  const auto pass = [&](int ms) {
    const auto end = clock_.now() + Milliseconds(ms);
    wait_until("time to pass", [&] { return clock_.now() >= end; });
  };
  pass(500);
  auto c = std::async(std::launch::async, wait_for_it, "c");
  pass(3'500);
  ASSERT_TRUE(a->release(*held));
  EXPECT_LT(b.get(), c.get()) << "who came first was served last";
}

TEST_F(FencelineSourceTest, AWaiterJoinsTheLineAgainAfterARestart) {
  const auto a = open();
  const auto held = a->acquire(order("k", "a"), {});
  ASSERT_TRUE(held);
  auto b = std::async(std::launch::async,
                      [&] { return open()->acquire(order("k", "b", Milliseconds(30'000)), {}); });
  const auto end = clock_.now() + Milliseconds(300);
  wait_until("b to wait", [&] { return clock_.now() >= end; });
  server_.kill();
  server_.restart();
  ASSERT_EQ(b.wait_for(Milliseconds(0)), std::future_status::timeout);
  base::Result<void> released;
  wait_until("the release", [&] {
    released = a->release(*held);
    return released || released.error().kind == ErrorKind::kLeaseEnded;
  });
  const auto grant = b.get();
  ASSERT_TRUE(grant) << grant.error().detail;
  EXPECT_GT(grant->token, held->token);
  EXPECT_GT(grant->valid_until - clock_.now(), Milliseconds(25'000))
      << "its time is counted from when it was granted, not from when it was asked for";
}

TEST_F(FencelineSourceTest, WhoWaitsInVainIsTold) {
  ASSERT_TRUE(open()->acquire(order("k", "worker-7@db1"), {}));
  const auto refused = open()->acquire(order("k", "b"), {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().detail, HasSubstr("worker-7@db1"));
}

TEST_F(FencelineSourceTest, LimitsOfTheServerAreNamed) {
  auto wrong = order("k", "a");
  wrong.ttl = Milliseconds(48LL * 3'600 * 1'000);
  const auto refused = open()->acquire(wrong, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kMalformedRequest);
  EXPECT_THAT(refused.error().detail, HasSubstr("ttl"));
}

TEST_F(FencelineSourceTest, AServerWithoutLeasesIsNoFreeKey) {
  const auto source = open();
  const auto elsewhere = client::make_source(server_.url() + "/other", clock_);
  ASSERT_TRUE(elsewhere);
  const auto shown = (*elsewhere)->show(base::FenceKey::parse("k").value());
  ASSERT_FALSE(shown);
  EXPECT_THAT(shown.error().detail, HasSubstr("leases: {}"));
  const auto acquired = (*elsewhere)->acquire(order("k", "a"), {});
  ASSERT_FALSE(acquired);
  EXPECT_EQ(acquired.error().kind, ErrorKind::kMalformedRequest);
  EXPECT_THAT(acquired.error().detail, HasSubstr("leases: {}"));
}

TEST_F(FencelineSourceTest, ListsInPages) {
  const auto source = open();
  for (const char* key : {"l/a", "l/b", "m/c"}) {
    ASSERT_TRUE(source->acquire(order(key, std::string("holder-of-") + key[2]), {}));
  }
  auto parsed = client::parse_source_url(server_.url(), 0);
  auto target = client::find_lease_service(std::move(*parsed));
  ASSERT_TRUE(target);
  const auto all = client::list_leases(*target, "", 0);
  ASSERT_TRUE(all) << all.error().detail;
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ((*all)[1].key, "l/b");
  EXPECT_EQ((*all)[1].by.holder, "holder-of-b");
  EXPECT_EQ(client::list_leases(*target, "l/", 0)->size(), 2U);
  EXPECT_EQ(client::list_leases(*target, "", 1)->size(), 1U);
}

TEST(FencelineSourceTokenTest, TheBearerTokenIsReadFromAFile) {
  FencelineServer server("{token: 0123456789abcdef}");
  const base::BoottimeClock clock;
  const TempFolder folder;
  std::ofstream(folder.at("token")) << "0123456789abcdef\n";
  const auto key = base::FenceKey::parse("k").value();
  const auto without = client::make_source(server.url(), clock);
  ASSERT_TRUE(without);
  const auto refused = (*without)->show(key);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUnauthorized);
  EXPECT_THAT(refused.error().detail, HasSubstr("FENCELINE_LEASE_TOKEN"));
  const auto with = client::make_source(server.url() + "?token-file=" + folder.at("token"), clock);
  ASSERT_TRUE(with) << with.error().detail;
  EXPECT_TRUE((*with)->show(key));
  EXPECT_FALSE(client::make_source(server.url() + "?token-file=/nowhere", clock));
}

}  // namespace
}  // namespace fenceline::testing
