// The options of a server that serves are replaced.

#include <fmt/format.h>

#include "proxy/listening_sockets.h"
#include "tests/proxy/front_fixture.h"

namespace fenceline::proxy::testing {
namespace {

using base::Milliseconds;
using fenceline::testing::ClientError;

class ReplaceListenersTest : public FrontTest {
 protected:
  ReplaceListenersTest() { server_options_.cores = 2; }

  /// The options with an owner that `alive` watches.
  ListenerOptions owned(std::weak_ptr<int>& alive) {
    ListenerOptions options = options_;
    auto owner = std::make_shared<int>(0);
    alive = owner;
    options.owner = std::move(owner);
    return options;
  }

  void replace(std::vector<ListenerOptions> listeners) {
    const auto replaced = server_->replace_listeners(std::move(listeners));
    ASSERT_TRUE(replaced) << replaced.error().detail;
  }

  TestHandler next_handler_;
};

TEST_F(ReplaceListenersTest, TheNextRequestFollowsAndTheRunningOneDoesNot) {
  std::weak_ptr<int> first;
  options_ = owned(first);
  start();
  options_.owner.reset();
  RawClient idle = connect();
  ASSERT_EQ(idle.exchange(get("/text")).status, 200);
  RawClient busy = connect();
  busy.send(get("/hold") + get("/text"));
  ASSERT_TRUE(handler_.board.wait([this] { return handler_.holding == 1; }));
  const std::size_t before = handler_.started;

  std::weak_ptr<int> second;
  ListenerOptions next = owned(second);
  next.handler = &next_handler_;
  replace({next});
  next.owner.reset();
  EXPECT_FALSE(first.expired()) << "a request still runs under it";
  EXPECT_FALSE(second.expired());
  EXPECT_EQ(idle.exchange(get("/text")).status, 200);
  EXPECT_EQ(connect().exchange(get("/text")).status, 200);
  EXPECT_EQ(next_handler_.started, 2U);

  handler_.release();
  EXPECT_EQ(busy.receive().body, "held");
  EXPECT_EQ(busy.receive().status, 200);
  EXPECT_EQ(next_handler_.started, 3U) << "the pipelined one came after it";
  EXPECT_EQ(handler_.started, before);
  EXPECT_TRUE(first.expired());
}

TEST_F(ReplaceListenersTest, IdleConnectionsHoldNothingOld) {
  std::weak_ptr<int> first;
  options_ = owned(first);
  start();
  options_.owner.reset();
  std::vector<RawClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(connect());
    ASSERT_EQ(clients.back().exchange(get("/text")).status, 200);
  }
  // The answers are read, but the sessions may still be on their way to the next request.
  replace({options_});
  for (RawClient& client : clients) {
    ASSERT_EQ(client.exchange(get("/text")).status, 200);
  }
  EXPECT_TRUE(first.expired());
}

TEST_F(ReplaceListenersTest, LimitsOfTheHeadAndOfConnectionsFollow) {
  start();
  RawClient one = connect();
  ASSERT_EQ(one.exchange(get("/text")).status, 200);
  RawClient two = connect();
  ASSERT_EQ(two.exchange(get("/text")).status, 200);
  options_.limits.head.max_head_bytes = 1024;
  options_.max_connections = 2;
  options_.timeouts.keep_alive_idle = Milliseconds(100);
  replace({options_});
  EXPECT_EQ(connect().exchange(get("/text")).status, 503);
  EXPECT_EQ(one.exchange(get("/text", "X: " + std::string(2000, 'x') + "\r\n")).status, 431);
  ASSERT_EQ(two.exchange(get("/text")).status, 200);
  two.expect_closed();
}

TEST_F(ReplaceListenersTest, AListenerThatMovesLetsItsConnectionsEnd) {
  start();
  const std::uint16_t before = port();
  RawClient idle = connect();
  ASSERT_EQ(idle.exchange(get("/text")).status, 200);
  RawClient busy = connect();
  busy.send(get("/hold"));
  ASSERT_TRUE(handler_.board.wait([this] { return handler_.holding == 1; }));
  options_.address = "127.0.0.2";
  replace({options_});
  EXPECT_THROW(RawClient gone(before), ClientError);
  EXPECT_NE(port(), 0);
  idle.expect_closed();
  handler_.release();
  const Response answer = busy.receive();
  EXPECT_EQ(answer.body, "held");
  EXPECT_EQ(answer.field("Connection"), "close");
  options_.address = "127.0.0.1";
  replace({options_});
  EXPECT_EQ(connect().exchange(get("/text")).status, 200);
}

TEST_F(ReplaceListenersTest, ListenersComeAndGo) {
  start();
  ListenerOptions second = options_;
  second.name = "second";
  second.all_cores = false;
  second.handler = &next_handler_;
  replace({options_, second});
  RawClient client(server_->port("second"));
  EXPECT_EQ(client.exchange(get("/text")).status, 200);
  const std::uint16_t there = server_->port("second");
  replace({options_});
  client.expect_closed();
  EXPECT_EQ(server_->port("second"), 0);
  EXPECT_THROW(RawClient gone(there), ClientError);
  EXPECT_EQ(connect().exchange(get("/text")).status, 200);
}

TEST_F(ReplaceListenersTest, WhatCannotBeDoneChangesNothing) {
  start();
  auto theirs = open_listening_sockets("127.0.0.1", 0, 1);
  ASSERT_TRUE(theirs);
  ListenerOptions next = options_;
  next.handler = &next_handler_;
  ListenerOptions taken = next;
  taken.name = "second";
  taken.port = theirs->port;
  EXPECT_FALSE(server_->replace_listeners({next, taken}));
  EXPECT_FALSE(server_->replace_listeners({next, next}));
  next.tls = TlsFiles{.certificate = "/nowhere/cert.pem", .key = "/nowhere/key.pem"};
  const auto refused = server_->replace_listeners({next});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().detail.find("/nowhere/cert.pem"), std::string::npos);
  EXPECT_EQ(connect().exchange(get("/text")).status, 200);
  EXPECT_EQ(handler_.started, 1U);
  EXPECT_EQ(server_->port("second"), 0);
  EXPECT_TRUE(server_->stop(Milliseconds(5000)));
  EXPECT_FALSE(server_->replace_listeners({options_}));
}

TEST_F(ReplaceListenersTest, ConnectionsThatWaitAreNotReset) {
  start();
  for (int round = 0; round < 20; ++round) {
    std::vector<RawClient> clients;
    for (int i = 0; i < 50; ++i) {
      clients.push_back(connect());
      clients.back().send(get("/text"));
    }
    options_.address = "127.0.0.2";
    replace({options_});
    for (RawClient& client : clients) {
      ASSERT_EQ(client.receive().status, 200);
    }
    options_.address = "127.0.0.1";
    replace({options_});
  }
}

}  // namespace
}  // namespace fenceline::proxy::testing
