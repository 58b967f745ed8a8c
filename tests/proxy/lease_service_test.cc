// The lease service in front of a lessor that the test plays, over real connections.

#include "proxy/lease_service.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "fencing/intents.h"
#include "fencing/ledger.h"
#include "tests/proxy/fake_lessor.h"
#include "tests/support/fake_backend.h"

namespace fenceline::proxy::testing {
namespace {

using base::ErrorKind;
using base::Milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kId = "0123456789abcdef0123456789abcdef";

std::string post(std::string_view target, std::string_view body, std::string_view fields = "") {
  return fmt::format(
      "POST {} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n{}Content-Length: "
      "{}\r\n\r\n{}",
      target, fields, body.size(), body);
}

std::string bare(std::string_view method, std::string_view target, std::string_view fields = "") {
  return fmt::format("{} {} HTTP/1.1\r\nHost: test\r\n{}\r\n", method, target, fields);
}

fencing::LeaseView view(bool repeated = false) {
  fencing::LeaseView view;
  view.lease = {.id = kId,
                .keys = {*base::FenceKey::parse("exports/acme")},
                .token = base::Token::of(35),
                .holder = "w1",
                .request_id = "r1",
                .ttl = Milliseconds(30'000),
                .lock_delay = Milliseconds(0)};
  view.left = Milliseconds(29'000);
  view.repeated = repeated;
  return view;
}

constexpr std::string_view kOrder = R"({"holder":"w1","ttl":"30s","wait":"1m","request_id":"r1"})";

std::vector<Route> routes_of(const std::shared_ptr<backends::Backend>& backend,
                             base::MetricRegistry& registry) {
  const auto pattern = *config::Pattern::parse("/exports/{tenant}/{path...}");
  const auto key = *config::FenceTemplate::parse("exports/{tenant}", pattern);
  std::vector<Route> routes;
  routes.push_back(Route{.name = "up",
                         .pattern = pattern,
                         .fence = key,
                         .allow = "PUT",
                         .methods = {"PUT"},
                         .backend = backend,
                         .promised = {},
                         .metrics = RouteMetrics(registry, "up")});
  return routes;
}

class LeaseServiceTest : public FrontTest {
 protected:
  LeaseServiceTest() {
    settings_.max_wait = Milliseconds(60'000);
    server_options_.tick = Milliseconds(10);
  }
  ~LeaseServiceTest() override { server_.reset(); }

  void serve() {
    service_ = make_lease_service({.lessor = lessor_,
                                   .audit = audit_,
                                   .intents = intents_,
                                   .routes = routes_,
                                   .clock = clock_,
                                   .settings = settings_,
                                   .make_id = [] { return std::string("made-up"); }});
    options_.handler = service_.get();
    start();
  }

  /// A write on the route `up` with this token, whose outcome nobody knows.
  void leave_a_write_in_doubt(std::int64_t token) {
    const fencing::Intent intent{"exports/acme", base::Token::of(token), "up", "late"};
    std::promise<base::Result<fencing::RunningIntent>> begun;
    intents_.begin(intent, false, [&begun](auto running) { begun.set_value(std::move(running)); });
    const auto in_doubt = begun.get_future().get();
    EXPECT_TRUE(in_doubt.has_value());
  }

  Response take(fencing::Lessor::Attempt attempt, bool repeated = false) {
    RawClient client = connect();
    client.send(post("/leases/exports/acme", kOrder));
    EXPECT_TRUE(wait_for_orders(attempt));
    lessor_.answer(attempt, view(repeated));
    return client.receive();
  }

  bool wait_for_orders(std::size_t count) {
    return lessor_.board.wait([this, count] { return lessor_.orders.size() >= count; });
  }
  bool wait_for_cancels(std::size_t count) {
    return lessor_.board.wait([this, count] { return lessor_.cancelled.size() >= count; });
  }
  bool wait_for_call(const std::string& call) {
    return lessor_.board.wait(
        [this, &call] { return std::ranges::count(lessor_.calls, call) > 0; });
  }

  base::MetricRegistry registry_;
  LeaseAudit audit_{registry_};
  FakeLessor lessor_;
  config::Leases settings_;
  std::unique_ptr<fencing::Ledger> ledger_ = fencing::make_memory_ledger();
  fencing::Intents intents_{*ledger_, clock_};
  std::shared_ptr<fenceline::testing::FakeBackend> backend_ =
      std::make_shared<fenceline::testing::FakeBackend>();
  RouteTable routes_{routes_of(backend_, registry_)};
  std::unique_ptr<Handler> service_;
};

TEST_F(LeaseServiceTest, AGrantIsCreatedAndSaysWhere) {
  serve();
  RawClient client = connect();
  client.send(post("/leases/exports/acme", kOrder));
  ASSERT_TRUE(wait_for_orders(1));
  EXPECT_EQ(lessor_.orders[0].keys.front().text(), "exports/acme");
  EXPECT_EQ(lessor_.orders[0].wait, Milliseconds(60'000));
  lessor_.answer(1, view());
  const Response granted = client.receive();
  EXPECT_EQ(granted.status, 201);
  EXPECT_EQ(granted.field("Location"), "/leases/exports%2Facme/" + kId);
  EXPECT_EQ(granted.field("Cache-Control"), "no-store");
  EXPECT_EQ(
      granted.body,
      "{\"lease\":\"" + kId +
          "\",\"holder\":\"w1\",\"token\":\"35\",\"keys\":[\"exports/acme\"],\"ttl_ms\":30000,"
          "\"left_ms\":29000,\"lock_delay_ms\":0,\"request_id\":\"r1\"}\n");
  EXPECT_THAT(lessor_.cancelled, IsEmpty());
}

TEST_F(LeaseServiceTest, ARepeatedGrantIsOk) {
  serve();
  RawClient client = connect();
  client.send(post("/leases/exports%2Facme", R"({"holder":"w1","ttl":"30s"})"));
  ASSERT_TRUE(wait_for_orders(1));
  EXPECT_EQ(lessor_.orders[0].keys.front().text(), "exports/acme");
  EXPECT_EQ(lessor_.orders[0].request_id, "made-up");
  lessor_.answer(1, view(true));
  EXPECT_EQ(client.receive().status, 200);
}

TEST_F(LeaseServiceTest, AGrantIsNotToldWhileAnOlderWriteMayLand) {
  serve();
  leave_a_write_in_doubt(34);
  backend_->can.settle_after = Milliseconds(3'600'000);
  const Response refused = take(1);
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("urn:fenceline:problem:draining"));
  EXPECT_THAT(refused.body, HasSubstr("older token 34"));
  EXPECT_THAT(refused.field("Retry-After"), ::testing::AnyOf("3599", "3600"));
  EXPECT_THAT(lessor_.calls, ElementsAre("give back exports/acme " + kId));
  EXPECT_THAT(registry_.text(), HasSubstr("lease_refusals_total{reason=\"draining\"} 1\n"));
  // A repetition of it is not told either, and leaves it to the first.
  lessor_.calls.clear();
  EXPECT_EQ(take(2, true).status, 503);
  EXPECT_THAT(lessor_.calls, IsEmpty());
  // Its window is over.
  backend_->can.settle_after = Milliseconds(0);
  lessor_.confirmed->left = Milliseconds(28'000);
  const Response granted = take(3);
  EXPECT_EQ(granted.status, 201);
  EXPECT_THAT(granted.body, HasSubstr("\"left_ms\":28000"));
  EXPECT_THAT(lessor_.calls, ElementsAre("confirm exports/acme " + kId));
  EXPECT_FALSE(intents_.any_unsettled());
}

TEST_F(LeaseServiceTest, AGrantRevokesOlderWritesWhereTheBackendCan) {
  serve();
  leave_a_write_in_doubt(34);
  leave_a_write_in_doubt(36);
  backend_->revokes = backends::Revocation::kRevoked;
  EXPECT_EQ(take(1).status, 201);
  EXPECT_THAT(backend_->events, ElementsAre("revoke late")) << "only what is older";
  EXPECT_EQ(intents_.unsettled_count(), 1U);
}

TEST_F(LeaseServiceTest, WhereOnlyAnOperatorCanTellAGrantSaysSo) {
  serve();
  leave_a_write_in_doubt(34);
  const Response refused = take(1);
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("fenceline fences settle"));
}

TEST_F(LeaseServiceTest, ARepetitionIsNotToldOfALeaseThatWasGivenBack) {
  serve();
  lessor_.confirmed = base::fail(ErrorKind::kDraining, "It has ended meanwhile.");
  EXPECT_EQ(take(1, true).status, 503);
  EXPECT_EQ(take(2).status, 201) << "nothing is on record: nobody can have given it back";
}

TEST_F(LeaseServiceTest, RefusalsAreProblems) {
  serve();
  RawClient client = connect();
  client.send(post("/leases", R"({"holder":"w1","ttl":"30s","keys":["b","a"]})"));
  ASSERT_TRUE(wait_for_orders(1));
  base::Error held{ErrorKind::kLeaseHeld, "w2 holds it.", base::Applied::kNo, {}};
  held.retry_after_s = 7;
  lessor_.answer(1, tl::unexpected<base::Error>(held));
  const Response refused = client.receive();
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.field("Content-Type"), "application/problem+json");
  EXPECT_EQ(refused.field("Retry-After"), "7");
  EXPECT_THAT(refused.body, HasSubstr("urn:fenceline:problem:lease-held"));
  EXPECT_THAT(refused.body, HasSubstr("w2 holds it."));
  EXPECT_THAT(registry_.text(), HasSubstr("lease_refusals_total{reason=\"lease-held\"} 1\n"));
}

TEST_F(LeaseServiceTest, RenewReleaseShowAndList) {
  serve();
  RawClient client = connect();
  const std::string path = "/leases/exports%2Facme/" + kId;
  EXPECT_EQ(client.exchange(bare("PUT", path, "Content-Length: 0\r\n")).status, 410);
  lessor_.renewal = view();
  const std::string ttl = R"({"ttl":"1m"})";
  const Response renewed = client.exchange(
      fmt::format("PUT {} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                  "Content-Length: {}\r\n\r\n{}",
                  path, ttl.size(), ttl));
  EXPECT_EQ(renewed.status, 200);
  EXPECT_THAT(renewed.body, HasSubstr("\"left_ms\":29000"));
  EXPECT_EQ(client.exchange(bare("DELETE", path)).status, 204);
  lessor_.released = base::fail(ErrorKind::kLeaseEnded, "It has ended.");
  EXPECT_EQ(client.exchange(bare("DELETE", "/leases/exports/acme/" + kId)).status, 410);
  EXPECT_THAT(lessor_.calls,
              ElementsAre("renew exports/acme " + kId, "renew exports/acme " + kId + " 60000",
                          "release exports/acme " + kId, "release exports/acme " + kId));
  lessor_.calls.clear();

  lessor_.shown.held = view();
  lessor_.shown.waiting = 3;
  lessor_.listed = {{*base::FenceKey::parse("exports/acme"), view()}};
  const Response shown = client.exchange(bare("GET", "/leases/exports/acme"));
  EXPECT_EQ(shown.status, 200);
  EXPECT_THAT(shown.body, HasSubstr("\"holder\":\"w1\""));
  EXPECT_THAT(shown.body, HasSubstr("\"waiting\":3"));
  EXPECT_EQ(client.exchange(bare("GET", "/leases/free")).status, 404);
  const Response listed = client.exchange(bare("GET", "/leases?prefix=e%2F&after=b&limit=1"));
  EXPECT_EQ(listed.status, 200);
  EXPECT_THAT(listed.body, HasSubstr("\"next\":\"exports/acme\""));
  EXPECT_THAT(lessor_.calls, ElementsAre("list e/ b 1"));
  for (const Response& answer : {shown, listed}) {
    EXPECT_EQ(answer.body.find(kId), std::string::npos) << "the id is the holder's secret";
  }
}

TEST_F(LeaseServiceTest, AsksForItsToken) {
  settings_.token = "0123456789abcdef";
  serve();
  RawClient client = connect();
  const std::vector<std::pair<std::string, std::string>> requests = {
      {"GET", "/leases"}, {"GET", "/leases/a"}, {"DELETE", "/leases/a/" + kId}};
  for (const auto& [method, path] : requests) {
    const Response refused = client.exchange(bare(method, path));
    EXPECT_EQ(refused.status, 401) << path;
    EXPECT_EQ(refused.field("WWW-Authenticate"), "Bearer");
    EXPECT_EQ(
        client.exchange(bare(method, path, "Authorization: Bearer 0123456789abcdeg\r\n")).status,
        401);
  }
  EXPECT_THAT(lessor_.calls, IsEmpty());
  EXPECT_EQ(
      client.exchange(bare("GET", "/leases", "Authorization: bearer 0123456789abcdef\r\n")).status,
      200);
}

TEST_F(LeaseServiceTest, OrdersAreSmallJsonAndFromNoPage) {
  serve();
  const std::string page = post("/leases/a", kOrder, "Origin: http://evil\r\n");
  EXPECT_EQ(connect().exchange(page).status, 400);
  EXPECT_EQ(connect()
                .exchange("POST /leases/a HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\n{}")
                .status,
            400);
  EXPECT_EQ(connect().exchange(post("/leases/a", std::string(20'000, ' '))).status, 413);
  EXPECT_EQ(connect().exchange(post("/leases/a%2", kOrder)).status, 400);
  EXPECT_EQ(connect().exchange(post("/leases/a%00b", kOrder)).status, 400);
  EXPECT_EQ(connect().exchange(post("/leases/", kOrder)).status, 400);
  EXPECT_EQ(connect().exchange(post("/leases/" + std::string(1025, 'k'), kOrder)).status, 414);
  EXPECT_THAT(lessor_.orders, IsEmpty());
}

TEST_F(LeaseServiceTest, AWaitOutlivesTheTimeoutsOfTheConnection) {
  options_.timeouts.head = Milliseconds(1000);  // for a busy machine
  options_.timeouts.body_idle = Milliseconds(100);
  options_.timeouts.keep_alive_idle = Milliseconds(600);
  options_.timeouts.write_idle = Milliseconds(100);
  serve();
  RawClient waiting = connect();
  waiting.send(post("/leases/exports/acme", kOrder));
  ASSERT_TRUE(wait_for_orders(1));
  // Another connection that is idle for as long is closed, twice over.
  for (int i = 0; i < 2; ++i) {
    RawClient idle = connect();
    EXPECT_EQ(idle.exchange(bare("GET", "/leases")).status, 200);
    idle.expect_closed();
  }
  EXPECT_THAT(lessor_.cancelled, IsEmpty());
  lessor_.answer(1, view());
  EXPECT_EQ(waiting.receive().status, 201);
}

TEST_F(LeaseServiceTest, AClientThatClosesLosesItsPlace) {
  serve();
  RawClient client = connect();
  client.send(post("/leases/exports/acme", kOrder));
  ASSERT_TRUE(wait_for_orders(1));
  client.close();
  EXPECT_TRUE(wait_for_cancels(1));
  EXPECT_TRUE(observer_.wait_for_closed(1));
  EXPECT_THAT(lessor_.cancelled, ElementsAre(1U));
  EXPECT_THAT(observer_.bugs, IsEmpty());
}

TEST_F(LeaseServiceTest, SoDoesOneThatResetsOrWillSendNoMore) {
  serve();
  RawClient reset = connect();
  reset.send(post("/leases/a", kOrder));
  ASSERT_TRUE(wait_for_orders(1));
  reset.reset();
  EXPECT_TRUE(wait_for_cancels(1));
  RawClient half = connect();
  half.send(post("/leases/a", kOrder));
  ASSERT_TRUE(wait_for_orders(2));
  half.shutdown_write();
  EXPECT_TRUE(wait_for_cancels(2));
  half.expect_closed();
}

TEST_F(LeaseServiceTest, WhatIsSentMeanwhileIsTheNextRequest) {
  serve();
  RawClient client = connect();
  client.send(post("/leases/exports/acme", kOrder));
  ASSERT_TRUE(wait_for_orders(1));
  client.send(bare("GET", "/leases/free"));
  lessor_.answer(1, view());
  EXPECT_EQ(client.receive().status, 201);
  EXPECT_EQ(client.receive().status, 404);
  // And once more, with the next request in the same packet.
  client.send(post("/leases/exports/acme", kOrder) + bare("GET", "/leases/free"));
  ASSERT_TRUE(wait_for_orders(2));
  lessor_.answer(2, view());
  EXPECT_EQ(client.receive().status, 201);
  EXPECT_EQ(client.receive().status, 404);
  EXPECT_THAT(lessor_.cancelled, IsEmpty());
}

TEST_F(LeaseServiceTest, ACloseBehindUnreadBytesIsSeen) {
  serve();
  RawClient client = connect();
  client.send(post("/leases/exports/acme", kOrder));
  ASSERT_TRUE(wait_for_orders(1));
  client.send(bare("GET", "/leases/free"));
  client.close();
  EXPECT_TRUE(wait_for_cancels(1));
  EXPECT_TRUE(observer_.wait_for_closed(1));
}

TEST_F(LeaseServiceTest, TheServerThatCutsAConnectionOffTakesItsPlaceAway) {
  serve();
  RawClient client = connect();
  client.send(post("/leases/exports/acme", kOrder));
  ASSERT_TRUE(wait_for_orders(1));
  EXPECT_FALSE(server_->stop(Milliseconds(0)));
  EXPECT_THAT(lessor_.cancelled, ElementsAre(1U));
}

TEST_F(LeaseServiceTest, AnAnswerThatNeverComesIsGivenUp) {
  settings_.drain = Milliseconds(0);
  serve();
  RawClient client = connect();
  client.send(post("/leases/exports/acme", R"({"holder":"w1","ttl":"30s"})"));
  ASSERT_TRUE(wait_for_orders(1));
  EXPECT_TRUE(wait_for_cancels(1)) << "after the time for the ledger";
  const Response late = client.receive();
  EXPECT_EQ(late.status, 503);
  EXPECT_THAT(late.body, HasSubstr("ledger-unavailable"));
}

}  // namespace
}  // namespace fenceline::proxy::testing
