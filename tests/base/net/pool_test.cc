// Which connections are used again, and how many there are.

#include <gtest/gtest.h>

#include <string>

#include "base/spawn.h"
#include "tests/base/net/client_fixture.h"

namespace fenceline::base::net::testing {
namespace {

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST_F(ClientTest, TwoRequestsUseOneConnection) {
  HostileUpstream upstream(always(kOk));
  use(upstream);
  EXPECT_FALSE(get().reused);
  EXPECT_EQ(client_->connections(), 1U);
  EXPECT_TRUE(get().reused);
  EXPECT_EQ(upstream.accepted(), 1U);
  EXPECT_FALSE(call({.fresh = true}).reused);
  EXPECT_EQ(upstream.accepted(), 2U);
  EXPECT_EQ(client_->connections(), 2U);
}

TEST_F(ClientTest, NeverReusesWhatTheAnswerForbids) {
  for (const std::string answer :
       {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"
        "bad",
        "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nrest"}) {
    HostileUpstream upstream(always(answer));
    use(upstream);
    for (int i = 0; i < 3; ++i) {
      const Outcome outcome = get();
      EXPECT_FALSE(outcome.error) << answer;
      EXPECT_FALSE(outcome.reused) << answer;
      EXPECT_NE(outcome.body, "bad");
    }
    EXPECT_EQ(upstream.accepted(), 3U) << answer;
  }
}

TEST_F(ClientTest, ReusesHttp10ThatAsksForIt) {
  HostileUpstream upstream(
      always("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"));
  use(upstream);
  EXPECT_FALSE(get().reused);
  EXPECT_TRUE(get().reused);
}

TEST_F(ClientTest, AnAnswerThatWasNotReadEndsTheConnection) {
  HostileUpstream upstream(always(kOk));
  use(upstream);
  EXPECT_EQ(call({.leave_answer = true}).status, 200);
  EXPECT_EQ(client_->connections(), 0U);
  EXPECT_FALSE(get().reused);
}

TEST_F(ClientTest, ThrowsAwayAnIdleConnectionThatSpeaks) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    while (peer.read_request()) {
      peer.send(kOk);
      peer.wait_until_told();
      // The answer to a question that nobody asked.
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad");
      peer.apply("sent");
      peer.read_to_end();
    }
  });
  use(upstream);
  EXPECT_EQ(get().body, "ok");
  upstream.tell();
  ASSERT_TRUE(run_until([&] { return upstream.applied().size() == 1; }));
  const Outcome second = get();
  EXPECT_EQ(second.body, "ok");
  EXPECT_FALSE(second.reused);
  EXPECT_EQ(client_->connections(), 1U) << "the other one is closed";
}

TEST_F(ClientTest, ThrowsAwayAnIdleConnectionThatWasClosed) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    if (peer.read_request()) {
      peer.send(kOk);
    }
  });
  use(upstream);
  EXPECT_EQ(get().body, "ok");
  ASSERT_TRUE(upstream.wait_for_ended(1));
  const Outcome second = get();
  EXPECT_EQ(second.body, "ok");
  EXPECT_FALSE(second.reused);
}

TEST_F(ClientTest, AStaleConnectionSaysThatItWasReused) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    if (peer.read_request()) {
      peer.send(kOk);
      peer.read_request();
    }
  });
  use(upstream);
  EXPECT_EQ(get().body, "ok");
  const Outcome second = get();
  EXPECT_EQ(second.kind(), ErrorKind::kUpstreamFailed);
  EXPECT_EQ(second.applied(), Applied::kUnknown);
  EXPECT_TRUE(second.reused);
  EXPECT_FALSE(second.unsent);
}

TEST_F(ClientTest, ClosesWhatIsIdleForTooLong) {
  HostileUpstream upstream(always(kOk));
  HttpClientOptions options = options_for(upstream);
  options.keep_alive = Milliseconds(30);
  use(options);
  EXPECT_EQ(get().body, "ok");
  EXPECT_EQ(client_->connections(), 1U);
  EXPECT_TRUE(run_until([&] { return client_->connections() == 0; }));
  EXPECT_TRUE(upstream.wait_for_ended(1));
  EXPECT_FALSE(get().reused);
}

Awaitable<void> open_two(HttpClient& client, TimerWheel& timers, Result<void>* third) {
  auto one = co_await client.open(timers);
  auto two = co_await client.open(timers);
  EXPECT_TRUE(one.has_value() && two.has_value());
  auto three = co_await client.open(timers);
  if (!three) {
    *third = tl::unexpected<Error>(three.error());
  }
}

TEST_F(ClientTest, OpensNoMoreThanItMay) {
  HostileUpstream upstream(always(kOk));
  HttpClientOptions options = options_for(upstream);
  options.max_connections = 2;
  use(options);
  Result<void> third;
  run(open_two(*client_, wheel_, &third));
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().kind, ErrorKind::kOverloaded);
  EXPECT_EQ(third.error().applied, Applied::kNo);
  EXPECT_EQ(client_->connections(), 0U);
  EXPECT_EQ(get().body, "ok");
  EXPECT_EQ(call({.fresh = true}).body, "ok");
  EXPECT_EQ(call({.fresh = true}).body, "ok") << "an idle one makes room for a fresh one";
  EXPECT_EQ(client_->connections(), 2U);
}

Awaitable<void> use_two_at_once(HttpClient& client, TimerWheel& timers) {
  const OutgoingHead head{.method = "GET", .target = "/"};
  auto one = co_await client.open(timers);
  auto two = co_await client.open(timers);
  co_await (*one)->send_head(head, "", true);
  co_await (*two)->send_head(head, "", true);
  auto second = co_await (*two)->receive_head();
  auto first = co_await (*one)->receive_head();
  EXPECT_TRUE(first.has_value() && second.has_value());
  auto body = co_await (*one)->read_all(10);
  auto other = co_await (*two)->read_all(10);
  EXPECT_TRUE(body.has_value() && other.has_value() && *body == *other);
}

TEST_F(ClientTest, KeepsNoMoreIdleThanItMay) {
  HostileUpstream upstream(always(kOk));
  HttpClientOptions options = options_for(upstream);
  options.max_idle = 1;
  use(options);
  run(use_two_at_once(*client_, wheel_));
  EXPECT_EQ(client_->connections(), 1U);
}

TEST_F(ClientTest, IdleConnectionsEndWithTheirCore) {
  HostileUpstream upstream(always(kOk));
  use(upstream);
  EXPECT_EQ(get().body, "ok");
  EXPECT_EQ(client_->connections(), 1U);
  io_.reset();
  EXPECT_EQ(client_->connections(), 0U);
  EXPECT_TRUE(upstream.wait_for_ended(1));
}

TEST_F(ClientTest, AClientThatIsGoneKeepsNothing) {
  HostileUpstream upstream(always(kOk));
  HttpClientOptions options = options_for(upstream);
  options.keep_alive = Milliseconds(30);
  use(options);
  EXPECT_EQ(get().body, "ok");
  client_.reset();
  EXPECT_TRUE(run_until([&] { return wheel_.armed() == 0; }));
  EXPECT_TRUE(upstream.wait_for_ended(1));
}

TEST_F(ClientTest, ACoreMayEndInTheMiddleOfAnExchange) {
  HostileUpstream upstream([](UpstreamPeer& peer) { peer.read_to_end(); });
  use(upstream);
  Outcome outcome;
  spawn(*io_, perform(*client_, wheel_, {}, &outcome), [](const std::exception_ptr&) {});
  ASSERT_TRUE(run_until([&] { return !upstream.received(0).empty(); }));
  io_.reset();
  EXPECT_EQ(client_->connections(), 0U);
  EXPECT_TRUE(upstream.wait_for_ended(1));
}

}  // namespace
}  // namespace fenceline::base::net::testing
