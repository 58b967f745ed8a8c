#include "client/blocking_http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>

#include "tests/support/hostile_upstream.h"
#include "tests/support/server_process.h"

namespace fenceline::client {
namespace {

using base::Applied;
using base::ErrorKind;
using base::Milliseconds;
using ::testing::HasSubstr;
using testing::HostileUpstream;
using testing::UpstreamPeer;

std::unique_ptr<BlockingHttp> client_of(const HostileUpstream& upstream) {
  base::net::HttpClientOptions options;
  options.host = "127.0.0.1";
  options.port = upstream.port();
  return *make_blocking_http(std::move(options));
}

HttpCall put(std::string body) {
  return {.method = "PUT", .target = "/x", .fields = {{"X-Thing", "1"}}, .body = std::move(body)};
}

TEST(BlockingHttp, AsksAndKeepsItsConnection) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    while (peer.read_request()) {
      peer.send("HTTP/1.1 201 Created\r\nContent-Length: 5\r\nX-Answer: yes\r\n\r\nhello");
    }
  });
  auto client = client_of(upstream);
  for (int i = 0; i < 3; ++i) {
    const auto answer = client->ask(put("body"), {});
    ASSERT_TRUE(answer) << answer.error().detail;
    EXPECT_EQ(answer->status, 201);
    EXPECT_EQ(answer->body, "hello");
    EXPECT_EQ(answer->field("x-answer"), "yes");
    EXPECT_EQ(answer->field("X-Other"), "");
  }
  EXPECT_EQ(upstream.accepted(), 1U);
  EXPECT_THAT(upstream.received(0), HasSubstr("Content-Length: 4"));
  EXPECT_THAT(upstream.received(0), HasSubstr("X-Thing: 1"));
}

TEST(BlockingHttp, AnAnswerWithoutBodyIsOne) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    while (peer.read_request()) {
      peer.send("HTTP/1.1 204 No Content\r\n\r\n");
    }
  });
  auto client = client_of(upstream);
  EXPECT_EQ(client->ask(put(""), {})->status, 204);
  EXPECT_EQ(client->ask({.method = "GET", .target = "/"}, {})->status, 204);
}

TEST(BlockingHttp, TheDeadlineIsForAllOfIt) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel");
    peer.wait_until_told();
  });
  auto client = client_of(upstream);
  HttpCall call = put("x");
  call.deadline = Milliseconds(100);
  const auto answer = client->ask(call, {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kUpstreamTimeout);
  EXPECT_EQ(answer.error().applied, Applied::kUnknown);
  EXPECT_THAT(answer.error().detail, HasSubstr("127.0.0.1"));
  upstream.tell();
}

TEST(BlockingHttp, AStopEndsTheWait) {
  std::stop_source stop;
  HostileUpstream upstream([&stop](UpstreamPeer& peer) {
    peer.read_request();
    stop.request_stop();
    peer.wait_until_told();
  });
  auto client = client_of(upstream);
  const auto answer = client->ask(put("x"), stop.get_token());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kClientGone);
  EXPECT_EQ(answer.error().applied, Applied::kUnknown);
  upstream.tell();
}

TEST(BlockingHttp, AfterAnAbandonedCallItAsksAgain) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    peer.read_request();
    if (peer.index() == 0) {
      peer.wait_until_told();
      return;
    }
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  auto client = client_of(upstream);
  HttpCall call = put("x");
  call.deadline = Milliseconds(50);
  EXPECT_FALSE(client->ask(call, {}));
  const auto answer = client->ask(put("x"), {});
  ASSERT_TRUE(answer) << answer.error().detail;
  EXPECT_EQ(answer->status, 200);
  upstream.tell();
}

// The time between two calls is not that of the second one: with a pause above the time for a
// connection every renewal would fail.
TEST(BlockingHttp, APauseBetweenCallsDoesNotCount) {
  HostileUpstream upstream([](UpstreamPeer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  });
  base::net::HttpClientOptions options;
  options.host = "127.0.0.1";
  options.port = upstream.port();
  options.connect = Milliseconds(500);
  options.first_byte = Milliseconds(500);
  options.idle = Milliseconds(500);
  auto client = *make_blocking_http(std::move(options));
  for (int i = 0; i < 3; ++i) {
    const auto answer = client->ask(put("x"), {});
    ASSERT_TRUE(answer) << i << ": " << answer.error().detail;
    const auto end = std::chrono::steady_clock::now() + Milliseconds(700);
    testing::wait_until("the pause to be over",
                        [&] { return std::chrono::steady_clock::now() >= end; });
  }
}

TEST(BlockingHttp, AnUnreachableServerIsNamedAndNothingWasSent) {
  std::uint16_t port = 0;
  {
    const HostileUpstream gone([](UpstreamPeer&) {});
    port = gone.port();
  }
  base::net::HttpClientOptions options;
  options.host = "127.0.0.1";
  options.port = port;
  auto client = *make_blocking_http(std::move(options));
  const auto answer = client->ask(put("x"), {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kUpstreamFailed);
  EXPECT_EQ(answer.error().applied, Applied::kNo);
  EXPECT_THAT(answer.error().detail, HasSubstr(std::to_string(port)));
}

TEST(BlockingHttp, AFieldThatWouldSplitTheHeadIsRefused) {
  const HostileUpstream upstream([](UpstreamPeer&) {});
  auto client = client_of(upstream);
  const auto answer =
      client->ask({.method = "GET", .target = "/", .fields = {{"X", "a\r\nY: b"}}}, {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kMalformedRequest);
  EXPECT_EQ(upstream.accepted(), 0U);
}

}  // namespace
}  // namespace fenceline::client
