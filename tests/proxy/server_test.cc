// Listeners, limits, cores and the end.

#include "proxy/server.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "proxy/listening_sockets.h"
#include "tests/proxy/front_fixture.h"

namespace fenceline::proxy::testing {
namespace {

using base::Milliseconds;
using fenceline::testing::ClientError;

class ServerTest : public FrontTest {
 protected:
  base::Result<std::unique_ptr<Server>> start_another(std::vector<ListenerOptions> listeners) {
    return start_server(server_options_, std::move(listeners), clock_, request_ids_, observer_);
  }
};

TEST_F(ServerTest, SpreadsConnectionsOverItsCores) {
  server_options_.cores = 4;
  start();
  std::vector<RawClient> clients;
  clients.reserve(100);
  for (int i = 0; i < 100; ++i) {
    clients.push_back(connect());
    ASSERT_EQ(clients.back().exchange(get("/text")).status, 200);
  }
  EXPECT_EQ(handler_.by_thread.size(), 4U);
}

TEST_F(ServerTest, TidiesUpAfterItsLastConnectionUntilNothingIsLeft) {
  Board board;
  int left = 2;
  int calls = 0;
  server_options_.tick = Milliseconds(10);
  server_options_.upkeep = [&board, &left, &calls] {
    bool more = false;
    board.update([&] {
      ++calls;
      more = left > 0 && left-- > 0;
    });
    return more;
  };
  start();
  for (const int wanted : {3, 4}) {
    {
      RawClient client = connect();
      EXPECT_EQ(client.exchange(get("/text", "Connection: close\r\n")).status, 200);
    }
    EXPECT_TRUE(board.wait([&calls, wanted] { return calls >= wanted; }));
  }
  server_.reset();
  EXPECT_EQ(left, 0);
}

TEST_F(ServerTest, ASecondServerOnThePortIsRefused) {
  server_options_.cores = 2;
  start();
  ListenerOptions same = options_;
  same.port = port();
  const auto second = start_another({same});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().detail.find(fmt::format("127.0.0.1 port {}", same.port)),
            std::string::npos);
  EXPECT_NE(second.error().detail.find("another process listens there"), std::string::npos);
  RawClient client = connect();
  EXPECT_EQ(client.exchange(get("/text")).status, 200);
}

TEST_F(ServerTest, APortThatSomebodySharesIsRefusedToo) {
  // As another copy of a server does that sets SO_REUSEPORT on all its sockets.
  auto theirs = open_listening_sockets("127.0.0.1", 0, 2);
  ASSERT_TRUE(theirs);
  options_.port = theirs->port;
  const auto refused = start_another({options_});
  ASSERT_FALSE(refused);
  theirs->sockets.clear();
  EXPECT_TRUE(start_another({options_}));
}

TEST_F(ServerTest, ThePortCanBeTakenAgainAfterAStop) {
  start();
  options_.port = port();
  RawClient client = connect();
  EXPECT_EQ(client.exchange(get("/text", "Connection: close\r\n")).status, 200);
  EXPECT_TRUE(server_->stop(Milliseconds(5000)));
  server_.reset();
  start();
  RawClient again = connect();
  EXPECT_EQ(again.exchange(get("/text")).status, 200);
}

TEST_F(ServerTest, NamesWhatIsWrongWithAnAddress) {
  options_.address = "localhost";
  const auto by_name = start_another({options_});
  ASSERT_FALSE(by_name);
  EXPECT_NE(by_name.error().detail.find("\"localhost\": not a numeric"), std::string::npos);
  options_.address = "192.0.2.1";
  const auto foreign = start_another({options_});
  ASSERT_FALSE(foreign);
  EXPECT_NE(foreign.error().detail.find("does not have that address"), std::string::npos);
}

TEST_F(ServerTest, ListensOnIpv6) {
  options_.address = "::1";
  start();
  EXPECT_NE(port(), 0);
}

TEST_F(ServerTest, TwoListenersHaveTheirOwnHandlersAndPorts) {
  TestHandler admin_handler;
  ListenerOptions admin = options_;
  admin.name = "admin";
  admin.handler = &admin_handler;
  admin.all_cores = false;
  server_options_.cores = 2;
  auto started = start_another({options_, admin});
  ASSERT_TRUE(started) << started.error().detail;
  RawClient client((*started)->port("admin"));
  EXPECT_EQ(client.exchange(get("/text")).status, 200);
  EXPECT_EQ(admin_handler.started, 1U);
  EXPECT_EQ(handler_.started, 0U);
  EXPECT_EQ((*started)->port("nobody"), 0);
  EXPECT_FALSE(start_another({options_, options_}));
}

TEST_F(ServerTest, OneClientTooManyReads503) {
  options_.max_connections = 2;
  start();
  RawClient one = connect();
  ASSERT_EQ(one.exchange(get("/text")).status, 200);
  RawClient two = connect();
  ASSERT_EQ(two.exchange(get("/text")).status, 200);
  {
    RawClient three = connect();
    const Response response = three.exchange(put("/text", std::string(100'000, 'b')));
    EXPECT_EQ(response.status, 503);
    EXPECT_NE(response.body.find("overloaded"), std::string::npos);
    EXPECT_TRUE(response.has("Retry-After"));
    EXPECT_EQ(response.field("Connection"), "close");
  }
  EXPECT_EQ(observer_.refused, 1U);
  EXPECT_EQ(observer_.opened, 2U);
  one.close();
  ASSERT_TRUE(observer_.wait_for_closed(1));
  RawClient next = connect();
  EXPECT_EQ(next.exchange(get("/text")).status, 200);
}

TEST_F(ServerTest, AFloodAboveTheLimitIsCutOff) {
  options_.max_connections = 1;
  start();
  RawClient one = connect();
  ASSERT_EQ(one.exchange(get("/text")).status, 200);
  std::vector<RawClient> flood;
  flood.reserve(200);
  for (int i = 0; i < 200; ++i) {
    flood.push_back(connect());
  }
  ASSERT_TRUE(observer_.board.wait([this] { return observer_.refused == 200; }));
  EXPECT_EQ(flood.front().receive().status, 503);
  flood.back().expect_closed();
  EXPECT_EQ(one.exchange(get("/text")).status, 200);
}

TEST_F(ServerTest, OutOfDescriptorsPausesAndRecovers) {
  start();
  RawClient before = connect();
  ASSERT_EQ(before.exchange(get("/text")).status, 200);
  base::UniqueFd next_free(::dup(before.fd()));
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  // One descriptor is left, for the client's own end.
  rlimit tight = old;
  tight.rlim_cur = static_cast<rlim_t>(next_free.get()) + 1;
  next_free.reset();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  RawClient waiting = connect();
  const bool paused = observer_.board.wait([this] { return observer_.paused > 0; });
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  EXPECT_TRUE(paused);
  EXPECT_EQ(waiting.exchange(get("/text")).status, 200);
  EXPECT_EQ(before.exchange(get("/text")).status, 200);
  // 200 ms each: a loop that spins would have counted thousands.
  EXPECT_LT(observer_.paused, 100U);
}

TEST_F(ServerTest, StopClosesIdleConnectionsAtOnce) {
  start();
  RawClient fresh = connect();
  RawClient used = connect();
  ASSERT_EQ(used.exchange(get("/text")).status, 200);
  ASSERT_TRUE(observer_.board.wait([this] { return observer_.opened == 2; }));
  EXPECT_TRUE(server_->stop(Milliseconds(20'000)));
  EXPECT_TRUE(used.ended_cleanly());
  EXPECT_TRUE(fresh.ended_cleanly());
  EXPECT_THROW(connect(), ClientError);
}

TEST_F(ServerTest, StopLetsABusyRequestFinish) {
  start();
  RawClient client = connect();
  client.send(get("/hold"));
  ASSERT_TRUE(handler_.board.wait([this] { return handler_.holding == 1; }));
  auto stopped =
      std::async(std::launch::async, [this] { return server_->stop(Milliseconds(20'000)); });
  // Once new connections are refused, the stop has begun.
  while (true) {
    try {
      connect();
    } catch (const ClientError&) {
      break;
    }
  }
  handler_.release();
  const Response response = client.receive();
  EXPECT_EQ(response.body, "held");
  EXPECT_EQ(response.field("Connection"), "close");
  client.close();
  EXPECT_TRUE(stopped.get());
}

TEST_F(ServerTest, StopCutsOffABodyThatDoesNotComeInTime) {
  start();
  RawClient client = connect();
  client.send("PUT /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\nhalf");
  ASSERT_TRUE(handler_.board.wait([this] { return handler_.started == 1; }));
  EXPECT_FALSE(server_->stop(Milliseconds(50)));
  ASSERT_EQ(handler_.body_errors.size(), 1U);
  EXPECT_EQ(handler_.body_errors[0], base::ErrorKind::kShuttingDown);
  client.expect_closed();
}

TEST_F(ServerTest, StopWaitsForAnEffectLongerThanItsDrainTime) {
  start();
  RawClient client = connect();
  client.send(get("/hold"));
  ASSERT_TRUE(handler_.board.wait([this] { return handler_.holding == 1; }));
  auto stopped = std::async(std::launch::async, [this] { return server_->stop(Milliseconds(0)); });
  // The connection is cut off, but its handler has not ended, so the server has not either.
  client.expect_closed();
  EXPECT_EQ(stopped.wait_for(Milliseconds(0)), std::future_status::timeout);
  handler_.release();
  EXPECT_FALSE(stopped.get());
  EXPECT_EQ(observer_.closed, 1U);
}

TEST_F(ServerTest, StopTwiceAndDestroyIsFine) {
  start();
  EXPECT_TRUE(server_->stop(Milliseconds(0)));
  EXPECT_TRUE(server_->stop(Milliseconds(0)));
}

TEST_F(ServerTest, ManyThreadsHammering) {
  server_options_.cores = 3;
  start();
  constexpr int kThreads = 4;
  constexpr int kRounds = 100;
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([this, t] {
        RawClient client = connect();
        for (int i = 0; i < kRounds; ++i) {
          const std::string body =
              fmt::format("{} {} {}", t, i, std::string(static_cast<std::size_t>(i) * 50, 'b'));
          ASSERT_EQ(client.exchange(put("/echo", body)).body, body);
          ASSERT_EQ(client.exchange(put("/refuse", body)).status, 412);
          if (i % 10 == 0) {
            RawClient other = connect();
            other.send(put("/throw", body));
            ASSERT_EQ(other.receive().status, 500);
            client = connect();
          }
        }
      });
    }
  }
  EXPECT_TRUE(observer_.wait_for_finished(kThreads * (2 * kRounds + kRounds / 10)));
  EXPECT_TRUE(server_->stop(Milliseconds(20'000)));
  EXPECT_EQ(observer_.opened, observer_.closed);
}

TEST_F(ServerTest, StopsWhileClientsHammer) {
  server_options_.cores = 2;
  start();
  std::vector<std::jthread> threads;
  threads.reserve(3);
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([this] {
      try {
        while (true) {
          RawClient client = connect();
          client.exchange(put("/echo", std::string(10'000, 'b')));
          client.exchange(put("/refuse", std::string(10'000, 'b')));
        }
      } catch (const ClientError&) {
        // The server is gone.
      }
    });
  }
  ASSERT_TRUE(observer_.wait_for_finished(50));
  server_->stop(Milliseconds(20'000));
  threads.clear();
  EXPECT_EQ(observer_.opened, observer_.closed);
  EXPECT_TRUE(observer_.bugs.empty());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(ServerTest, AnIdleConnectionHoldsLessThanSixteenKibibytes) {
  constexpr std::size_t kConnections = 200;
  start();
  // Descriptors only: what a client has received stays in its memory, which is this process's.
  std::vector<base::UniqueFd> clients;
  const auto open_one = [&] {
    RawClient client = connect();
    // What a connection needed once must not stay with it: a large head, body and answer.
    const std::string fields = fmt::format("X-Long: {}\r\n", std::string(20'000, 'l'));
    ASSERT_EQ(client.exchange(put("/length", std::string(600'000, 'b'), fields)).status, 200);
    ASSERT_EQ(client.exchange(get("/text?bytes=10000")).body.size(), 10'000U);
    clients.emplace_back(::dup(client.fd()));
  };
  clients.reserve(kConnections + 10);
  for (int i = 0; i < 10; ++i) {
    open_one();
  }
  const std::size_t before = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
  for (std::size_t i = 0; i < kConnections; ++i) {
    open_one();
  }
  const std::size_t after = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
  const std::size_t each = (after - std::min(before, after)) / kConnections;
  RecordProperty("bytes_per_connection", static_cast<int>(each));
  EXPECT_GT(each, 1024U);
  EXPECT_LT(each, 16U * 1024);
}
#endif

}  // namespace
}  // namespace fenceline::proxy::testing
