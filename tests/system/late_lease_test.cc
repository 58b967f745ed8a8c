// Leases, revokes and raises while a write of an older token may still land at an upstream.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/support/conditional_upstream.h"
#include "tests/system/late_fixture.h"
#include "tests/system/lease_server.h"

namespace fenceline::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* kPut = "PUT /acme/report.csv";

class LateLeaseTest : public LateWriteTest {
 protected:
  LateLeaseTest() = default;
  ~LateLeaseTest() override { end(); }
  LateLeaseTest(const LateLeaseTest&) = delete;
  LateLeaseTest& operator=(const LateLeaseTest&) = delete;

  void lose_change_of_a(std::string_view settings) {
    serve(upstream_.port(), settings);
    EXPECT_EQ(server_->put(kLatePath, 33, kBefore).status, 201);
    lose_upload_of_a(kPut);
  }

  Response take(std::string_view holder) {
    RawClient client(server_->process().port());
    return client.exchange(
        post_json("/leases/exports/acme", lease_order(holder, "30s", R"(,"request_id":"r1")")));
  }

  Response order(std::string_view path, std::string_view body) {
    RawClient client(server_->process().admin_port());
    return client.exchange(post_json(path, body));
  }

  Response raise(std::string_view to) {
    return order("/v1/fences/exports/acme",
                 R"({"action":"raise","to":")" + std::string(to) + "\"}");
  }

  Response revoke() {
    return order("/v1/leases/exports/acme", R"({"action":"revoke","reason":"the host is gone"})");
  }

  static void expect_draining(const Response& answer) {
    expect_not_applied(answer, 503, "draining");
    EXPECT_THAT(answer.body, HasSubstr("older token 33"));
  }

  ConditionalUpstream upstream_;
};

TEST_F(LateLeaseTest, ALeaseIsGrantedWhenTheOlderWriteCanNotLandAnyMore) {
  lose_change_of_a("commit: plain, settle: 2s");
  Response answer = take("b");
  expect_draining(answer);
  EXPECT_THAT(answer.field("Retry-After"), AnyOf("1", "2"));
  EXPECT_EQ(server_->mark(kLateKey), 34) << "it stays raised";
  relay_->deliver(kPut);
  wait_until("B to get the lease", [&] {
    answer = take("b");
    return answer.status != 503;
  });
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_GT(token_in(answer), 34);
  EXPECT_EQ(server_->put(kLatePath, token_in(answer), kOfB).status, 204);
  EXPECT_EQ(take("b").status, 200) << "the same lease";
}

TEST_F(LateLeaseTest, AfterAKillToo) {
  lose_change_of_a("commit: plain, settle: manual");
  server_->kill_and_restart();
  const Response refused = take("b");
  expect_draining(refused);
  EXPECT_THAT(refused.body, HasSubstr("fenceline fences settle"));
  expect_draining(take("c"));
  settle_key();
  EXPECT_EQ(take("b").status, 201);
}

TEST_F(LateLeaseTest, ALeaseIsGrantedAtOnceWhereTheOlderWriteIsRevoked) {
  lose_change_of_a("commit: conditional, settle: 1h");
  const Response granted = take("b");
  ASSERT_EQ(granted.status, 201) << granted.body;
  EXPECT_THAT(relay_->deliver(kPut), ::testing::ElementsAre(::testing::StartsWith("HTTP/1.1 412")));
}

TEST_F(LateLeaseTest, ARaiseWaitsForIt) {
  lose_change_of_a("commit: plain, settle: manual");
  expect_draining(raise("40"));
  EXPECT_EQ(server_->mark(kLateKey), 40);
  settle_key();
  EXPECT_EQ(raise("40").status, 200);
}

TEST_F(LateLeaseTest, ARevokeEndsTheLeaseAndSaysThatAWriteMayLand) {
  serve(upstream_.port(), "commit: plain, settle: manual");
  const Response granted = take("a");
  ASSERT_EQ(granted.status, 201);
  EXPECT_EQ(server_->put(kLatePath, token_in(granted), kBefore).status, 201);
  relay_->park(kPut);
  expect_unknown(server_->put(kLatePath, token_in(granted), upload_of_a()));
  relay_->wait_for_parked(kPut);
  expect_not_applied(revoke(), 503, "draining");
  EXPECT_EQ(revoke().status, 404) << "it has ended";
  EXPECT_THAT(server_->process().log(), HasSubstr(" lease_revoked: "));
  expect_fenced(server_->put(kLatePath, token_in(granted), kOfB), token_in(granted),
                token_in(granted) + 1);
}

}  // namespace
}  // namespace fenceline::testing
