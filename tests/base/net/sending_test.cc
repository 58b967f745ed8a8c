// An upstream that answers, closes or stalls before it has the whole request; and what an error
// says about the request then.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/spawn.h"
#include "tests/base/net/client_fixture.h"

namespace fenceline::base::net::testing {
namespace {

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
constexpr const char* kTooLarge = "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig";

/// More than the buffers of both ends hold.
std::string more_than_fits() { return std::string(16UL * 1024 * 1024, 'x'); }

TEST_F(ClientTest, HearsAnAnswerWhileItSends) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    peer.read_bytes(1000);
    peer.send(kTooLarge);
    peer.wait_until_told();
  });
  use(upstream);
  const Outcome outcome = call({.method = "PUT", .body = {more_than_fits(), "rest"}});
  EXPECT_EQ(outcome.status, 413);
  EXPECT_EQ(outcome.body, "big");
  EXPECT_TRUE(outcome.answered);
  EXPECT_EQ(outcome.pieces_sent, 1U);
  EXPECT_EQ(client_->connections(), 0U) << "half of a request is on that connection";
}

TEST_F(ClientTest, HearsAnAnswerBetweenTwoPieces) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    peer.read_bytes(10);
    peer.send(kTooLarge);
    peer.apply("answered");
    peer.read_to_end();
  });
  use(upstream);
  std::vector<std::string> pieces(100'000, "piece");
  const Outcome outcome = call({.method = "PUT", .body = std::move(pieces), .chunked = true});
  EXPECT_EQ(outcome.status, 413);
  EXPECT_TRUE(outcome.answered);
  EXPECT_LT(outcome.pieces_sent, 100'000U);
  EXPECT_EQ(client_->connections(), 0U);
  ASSERT_TRUE(upstream.wait_for_ended(1));
  EXPECT_FALSE(upstream.received(0).ends_with("0\r\n\r\n")) << "never completed";
}

TEST_F(ClientTest, AnInterimAnswerDoesNotStopTheSending) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    peer.read_bytes(10);
    peer.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nX: y\r\n\r\nHTTP/1.1 1");
    peer.read_request();
    peer.send("03 Early Hints\r\n\r\n");
    peer.send(kOk);
    peer.read_to_end();
  });
  use(upstream);
  const Outcome outcome = call({.method = "PUT", .body = {"a", more_than_fits(), "rest"}});
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.status, 200);
  EXPECT_FALSE(outcome.answered);
  EXPECT_EQ(outcome.pieces_sent, 3U);
  EXPECT_EQ(client_->connections(), 1U);
}

TEST_F(ClientTest, ReadsTheAnswerOfAnUpstreamThatAnsweredAndStoppedReading) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    peer.read_bytes(10);
    peer.send(kTooLarge);
    peer.shutdown_write();
    peer.read_to_end();
  });
  use(upstream);
  const Outcome outcome = call({.method = "PUT", .body = {more_than_fits()}});
  EXPECT_EQ(outcome.status, 413);
  EXPECT_EQ(outcome.body, "big");
}

TEST_F(ClientTest, AnUpstreamThatClosesWhileWeSendHasNotGotTheRequest) {
  HostileUpstream upstream([](UpstreamPeer& peer) { peer.read_bytes(1000); });
  use(upstream);
  const Outcome outcome = call({.method = "PUT", .body = {more_than_fits()}});
  EXPECT_EQ(outcome.kind(), ErrorKind::kUpstreamFailed);
  EXPECT_EQ(outcome.applied(), Applied::kNo);
  EXPECT_FALSE(outcome.unsent);
}

TEST_F(ClientTest, WhereverTheUpstreamClosesAHeldBackRequestIsNotApplied) {
  const std::string head = "PUT / HTTP/1.1\r\nHost: upstream.test\r\nContent-Length: 8\r\n\r\n";
  const std::size_t held_back = head.size() + 7;
  for (std::size_t bytes = 0; bytes <= held_back; ++bytes) {
    HostileUpstream upstream([bytes](UpstreamPeer& peer) { peer.read_bytes(bytes); });
    use(upstream);
    const Outcome outcome = call({.method = "PUT", .body = {"four", "four"}, .hold_back = true});
    EXPECT_EQ(outcome.kind(), ErrorKind::kUpstreamFailed) << bytes;
    EXPECT_EQ(outcome.applied(), Applied::kNo) << bytes;
    EXPECT_LE(upstream.received(0).size(), held_back);
  }
}

TEST_F(ClientTest, WhereverTheUpstreamClosesACompleteRequestMayBeApplied) {
  const std::string head = "PUT / HTTP/1.1\r\nHost: upstream.test\r\nContent-Length: 4\r\n\r\n";
  for (std::size_t bytes = 0; bytes <= head.size() + 4; bytes += 7) {
    HostileUpstream upstream([bytes](UpstreamPeer& peer) { peer.read_bytes(bytes + 1); });
    use(upstream);
    const Outcome outcome = call({.method = "PUT", .body = {"four"}});
    EXPECT_EQ(outcome.kind(), ErrorKind::kUpstreamFailed) << bytes;
    // The system took all of it, so nobody can tell; unless it knew that the upstream had gone.
    EXPECT_EQ(outcome.applied(), Applied::kUnknown) << bytes;
  }
}

TEST_F(ClientTest, ARequestThatIsAppliedLateIsUnknown) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    if (peer.read_request()) {
      peer.wait_until_told();
      peer.apply("late");
    }
  });
  HttpClientOptions options = options_for(upstream);
  options.first_byte = Milliseconds(40);
  use(options);
  const Outcome outcome = call({.method = "PUT", .body = {"four"}});
  EXPECT_EQ(outcome.kind(), ErrorKind::kUpstreamTimeout);
  EXPECT_EQ(outcome.applied(), Applied::kUnknown);
  EXPECT_TRUE(upstream.applied().empty());
  upstream.tell();
  ASSERT_TRUE(upstream.wait_for_ended(1));
  EXPECT_EQ(upstream.applied().size(), 1U) << "so `unknown` was right";
}

TEST_F(ClientTest, AHeldBackRequestThatIsNotAnsweredIsNotApplied) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    if (peer.read_request()) {
      peer.apply("never");
    }
  });
  HttpClientOptions options = options_for(upstream);
  options.first_byte = Milliseconds(40);
  use(options);
  for (const bool chunked : {false, true}) {
    const Outcome outcome =
        call({.method = "PUT", .body = {"four"}, .chunked = chunked, .hold_back = true});
    EXPECT_EQ(outcome.kind(), ErrorKind::kUpstreamTimeout);
    EXPECT_EQ(outcome.applied(), Applied::kNo);
  }
  ASSERT_TRUE(upstream.wait_for_ended(2));
  EXPECT_TRUE(upstream.applied().empty());
}

TEST_F(ClientTest, AnUpstreamThatDoesNotReadIsATimeOut) {
  HostileUpstream upstream([](UpstreamPeer& peer) { peer.wait_until_told(); });
  HttpClientOptions options = options_for(upstream);
  options.idle = Milliseconds(40);
  use(options);
  const Outcome outcome = call({.method = "PUT", .body = {more_than_fits()}});
  EXPECT_EQ(outcome.kind(), ErrorKind::kUpstreamTimeout);
  EXPECT_EQ(outcome.applied(), Applied::kNo);
  EXPECT_FALSE(outcome.unsent);
}

TEST_F(ClientTest, AnAnswerThatStallsIsATimeOut) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfour");
    peer.wait_until_told();
  });
  HttpClientOptions options = options_for(upstream);
  options.idle = Milliseconds(40);
  use(options);
  const Outcome outcome = get();
  EXPECT_EQ(outcome.body, "four");
  EXPECT_EQ(outcome.kind(), ErrorKind::kUpstreamTimeout);
  EXPECT_EQ(client_->connections(), 0U);
}

TEST_F(ClientTest, ADripOfInterimAnswersIsBoundToo) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    peer.read_request();
    while (true) {
      peer.send("HTTP/1.1 103 Early Hints\r\n\r\n");
    }
  });
  use(upstream);
  EXPECT_EQ(get().kind(), ErrorKind::kUpstreamFailed);
}

TEST_F(ClientTest, ARefusedConnectionLeavesNothingBehind) {
  HttpClientOptions options;
  {
    HostileUpstream upstream([](UpstreamPeer&) {});
    options = options_for(upstream);
  }
  use(options);
  const Outcome outcome = get();
  EXPECT_EQ(outcome.kind(), ErrorKind::kUpstreamFailed);
  EXPECT_EQ(outcome.applied(), Applied::kNo);
  EXPECT_NE(outcome.error->detail.find("127.0.0.1:"), std::string::npos) << outcome.error->detail;
  EXPECT_EQ(client_->connections(), 0U);
}

TEST_F(ClientTest, LooksNamesUp) {
  HostileUpstream upstream(always(kOk));
  HttpClientOptions options = options_for(upstream);
  options.host = "localhost";
  use(options);
  EXPECT_EQ(get().body, "ok");
}

Awaitable<void> send_half(HttpClient& client, TimerWheel& timers) {
  auto exchange = co_await client.open(timers);
  const OutgoingHead head{.method = "PUT", .target = "/", .chunked = true};
  auto sent = co_await (*exchange)->send_head(head, "half", false);
  EXPECT_TRUE(sent.has_value());
}

TEST_F(ClientTest, AnIncompleteRequestEndsWithAReset) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    peer.apply(peer.read_to_end() ? "an end like that of a whole body" : "a reset");
  });
  use(upstream);
  run(send_half(*client_, wheel_));
  ASSERT_TRUE(upstream.wait_for_ended(1));
  EXPECT_EQ(upstream.applied().front(), "a reset");
}

}  // namespace
}  // namespace fenceline::base::net::testing
