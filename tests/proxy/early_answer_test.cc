// Answers that come before the end of the body, clients that go away, and clients that are slow.

#include <fmt/format.h>
#include <sys/socket.h>

#include <future>
#include <thread>

#include "tests/proxy/front_fixture.h"

namespace fenceline::proxy::testing {
namespace {

constexpr std::size_t kMiB = std::size_t{1024} * 1024;
/// What a body must never become: a request of its own.
constexpr std::string_view kSmuggled = "GET /text HTTP/1.1\r\nHost: test\r\n\r\n";

std::string body_of_requests(std::size_t bytes) {
  std::string body;
  while (body.size() < bytes) {
    body += kSmuggled;
  }
  return body;
}

class EarlyAnswerTest : public FrontTest {
 protected:
  /// A head that announces more than it sends.
  static std::string announce(std::string_view target, std::size_t bytes) {
    return fmt::format("PUT {} HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n", target,
                       bytes);
  }
};

TEST_F(EarlyAnswerTest, ASmallUnreadBodyIsDrainedAndTheConnectionKept) {
  start();
  RawClient client = connect();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, std::size_t{200'000}}) {
    const std::string body = body_of_requests(bytes);
    const Response response = client.exchange(put("/refuse", body));
    ASSERT_EQ(response.status, 412);
    ASSERT_FALSE(response.has("Connection")) << bytes;
  }
  EXPECT_EQ(client.exchange(get("/request-id")).status, 200);
  EXPECT_EQ(handler_.started, 4U);
}

TEST_F(EarlyAnswerTest, TheAnswerComesBeforeTheDrainedBody) {
  start();
  RawClient client = connect();
  client.send(announce("/refuse", 10));
  EXPECT_EQ(client.receive().status, 412);
  client.send("0123456789");
  EXPECT_EQ(client.exchange(get("/text")).status, 200);
}

TEST_F(EarlyAnswerTest, AnUnreadMebibyteIsReadableByAClientThatWritesFirst) {
  start();
  RawClient client = connect();
  client.send(put("/refuse", body_of_requests(kMiB)));
  const Response response = client.receive();
  EXPECT_EQ(response.status, 412);
  EXPECT_EQ(response.field("Connection"), "close");
  client.shutdown_write();
  EXPECT_TRUE(client.ended_cleanly());
  EXPECT_EQ(handler_.started, 1U);
}

TEST_F(EarlyAnswerTest, SixtyFourUnreadMebibytesAreReadableByAClientThatWritesFirst) {
  options_.timeouts.linger = base::Milliseconds(20'000);  // for a busy machine
  start();
  RawClient client = connect();
  const std::string request = put("/refuse", body_of_requests(64 * kMiB));
  EXPECT_EQ(client.send_as_far_as_possible(request), request.size());
  EXPECT_EQ(client.receive().status, 412);
  client.shutdown_write();
  EXPECT_TRUE(client.ended_cleanly()) << "the answer could have been lost to a reset";
  EXPECT_EQ(handler_.started, 1U);
}

TEST_F(EarlyAnswerTest, SixtyFourUnreadMebibytesAreReadableByAClientThatReadsWhileItWrites) {
  start();
  RawClient client = connect();
  client.send(announce("/refuse", 64 * kMiB));
  client.send(body_of_requests(100'000));
  const Response response = client.receive();
  EXPECT_EQ(response.status, 412);
  EXPECT_EQ(response.field("Connection"), "close");
  client.shutdown_write();  // As a client does that has read `Connection: close`.
  EXPECT_TRUE(client.ended_cleanly());
  EXPECT_EQ(handler_.started, 1U);
}

TEST_F(EarlyAnswerTest, AnUnfinishedChunkedBodyCloses) {
  start();
  RawClient client = connect();
  client.send("PUT /refuse HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe");
  const Response response = client.receive();
  EXPECT_EQ(response.status, 412);
  EXPECT_EQ(response.field("Connection"), "close");
  client.send(kSmuggled);
  client.shutdown_write();
  EXPECT_EQ(client.receive_to_end(), "");
  EXPECT_EQ(handler_.started, 1U);
}

TEST_F(EarlyAnswerTest, AChunkedBodyThatHasArrivedIsDropped) {
  start();
  RawClient client = connect();
  client.send(
      "PUT /refuse HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2\r\nhe\r\n0\r\n\r\n" +
      get("/text"));
  EXPECT_FALSE(client.receive().has("Connection"));
  EXPECT_EQ(client.receive().status, 200);
}

TEST_F(EarlyAnswerTest, ABodyReadInPartIsNotARequest) {
  start();
  RawClient client = connect();
  const Response response = client.exchange(put("/first-piece", body_of_requests(100'000)));
  EXPECT_EQ(response.body, "read");
  EXPECT_EQ(client.exchange(get("/request-id")).status, 200);
  EXPECT_EQ(handler_.started, 2U);
}

TEST_F(EarlyAnswerTest, ADrainThatTakesTooLongCloses) {
  options_.timeouts.linger = base::Milliseconds(50);
  start();
  RawClient client = connect();
  client.send(announce("/refuse", 1000));
  EXPECT_EQ(client.receive().status, 412);
  client.expect_closed();
}

TEST_F(EarlyAnswerTest, BrokenChunksAreAnsweredAndClose) {
  start();
  RawClient client = connect();
  client.send(
      "PUT /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n");
  const Response response = client.receive();
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.field("Connection"), "close");
  client.shutdown_write();
  EXPECT_TRUE(client.ended_cleanly());
}

TEST_F(EarlyAnswerTest, BrokenFramingIsAnsweredWithoutTheHandler) {
  start();
  RawClient client = connect();
  const Response response = client.exchange(
      "PUT /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\nTransfer-Encoding: "
      "chunked\r\n\r\n");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.field("Content-Type"), "application/problem+json");
  EXPECT_EQ(response.field("Connection"), "close");
  client.send(kSmuggled);
  client.shutdown_write();
  EXPECT_EQ(client.receive_to_end(), "");
  EXPECT_EQ(handler_.started, 0U);
}

TEST_F(EarlyAnswerTest, AHalfClosedClientGetsItsAnswer) {
  start();
  RawClient client = connect();
  client.send(put("/echo", "last words") + get("/text"));
  client.shutdown_write();
  EXPECT_EQ(client.receive().body, "last words");
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_TRUE(client.ended_cleanly());
}

TEST_F(EarlyAnswerTest, AClientThatClosesInTheMiddleOfABodyIsNeverComplete) {
  start();
  for (const bool with_reset : {false, true}) {
    RawClient client = connect();
    client.send(announce("/echo", 100) + "half");
    if (with_reset) {
      client.reset();
    } else {
      client.close();
    }
  }
  EXPECT_TRUE(handler_.board.wait([this] { return handler_.body_errors.size() == 2; }));
  for (const base::ErrorKind kind : handler_.body_errors) {
    EXPECT_EQ(kind, base::ErrorKind::kClientGone);
  }
  EXPECT_TRUE(observer_.wait_for_closed(2));
}

TEST_F(EarlyAnswerTest, AChunkedBodyWithoutItsLastChunkIsNeverComplete) {
  start();
  RawClient client = connect();
  client.send("PUT /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n");
  client.shutdown_write();
  EXPECT_TRUE(handler_.board.wait([this] { return handler_.body_errors.size() == 1; }));
  EXPECT_EQ(handler_.body_errors[0], base::ErrorKind::kClientGone);
}

TEST_F(EarlyAnswerTest, AClientThatIsGoneWhenTheAnswerComesIsClosed) {
  start();
  RawClient client = connect();
  client.send(get("/hold"));
  ASSERT_TRUE(handler_.board.wait([this] { return handler_.holding == 1; }));
  client.reset();
  handler_.release();
  EXPECT_TRUE(observer_.wait_for_closed(1));
}

TEST_F(EarlyAnswerTest, AHeadThatTricklesInIsAnswered408InTotalTime) {
  options_.timeouts.head = base::Milliseconds(150);
  start();
  RawClient client = connect();
  client.send("GET /text HTTP/1.1\r\nHost: test\r\n");
  // Each byte is progress, and must not give more time.
  std::jthread trickle([fd = client.fd()](const std::stop_token& stop) {
    while (!stop.stop_requested() && ::send(fd, "X", 1, MSG_NOSIGNAL) == 1) {
      std::this_thread::yield();
    }
  });
  client.wait_for_bytes(1);
  trickle.request_stop();
  trickle.join();
  const Response response = client.receive();
  // So many bytes may also have made the head too large first.
  EXPECT_TRUE(response.status == 408 || response.status == 431) << response.status;
  EXPECT_EQ(response.field("Connection"), "close");
}

TEST_F(EarlyAnswerTest, AnUnfinishedHeadIsAnswered408) {
  options_.timeouts.head = base::Milliseconds(50);
  start();
  RawClient client = connect();
  client.send("GET /text HTTP/1.1\r\nHost: te");
  const Response response = client.receive();
  EXPECT_EQ(response.status, 408);
  EXPECT_EQ(response.field("Connection"), "close");
  client.shutdown_write();
  EXPECT_TRUE(client.ended_cleanly());
}

TEST_F(EarlyAnswerTest, TheHeadTimeStartsAgainForTheSecondRequest) {
  options_.timeouts.head = base::Milliseconds(50);
  start();
  RawClient client = connect();
  EXPECT_EQ(client.exchange(get("/text")).status, 200);
  client.send("G");
  EXPECT_EQ(client.receive().status, 408);
}

TEST_F(EarlyAnswerTest, AClientThatSendsNothingIsClosedWithoutAWord) {
  options_.timeouts.head = base::Milliseconds(50);
  start();
  RawClient client = connect();
  EXPECT_TRUE(client.ended_cleanly());
}

TEST_F(EarlyAnswerTest, AnIdleConnectionIsClosedWithoutAWord) {
  options_.timeouts.keep_alive_idle = base::Milliseconds(50);
  start();
  RawClient client = connect();
  EXPECT_EQ(client.exchange(get("/text")).status, 200);
  EXPECT_TRUE(client.ended_cleanly());
}

TEST_F(EarlyAnswerTest, ABodyThatStallsIsAnswered408) {
  options_.timeouts.body_idle = base::Milliseconds(50);
  start();
  RawClient client = connect();
  client.send(announce("/echo", 100) + "half");
  const Response response = client.receive();
  EXPECT_EQ(response.status, 408);
  EXPECT_EQ(response.field("Connection"), "close");
  ASSERT_EQ(handler_.body_errors.size(), 1U);
  EXPECT_EQ(handler_.body_errors[0], base::ErrorKind::kRequestTimeout);
}

TEST_F(EarlyAnswerTest, AClientThatDoesNotReadItsAnswerIsClosed) {
  options_.timeouts.write_idle = base::Milliseconds(100);
  start();
  RawClient client = connect(4096);
  client.send(get("/text?bytes=50000000"));
  EXPECT_TRUE(observer_.wait_for_closed(1));
  ASSERT_EQ(observer_.finished.size(), 1U);
  EXPECT_FALSE(observer_.finished[0].complete);
}

TEST_F(EarlyAnswerTest, ASlowReaderGetsAllOfALargeAnswer) {
  start();
  RawClient client = connect(4096);
  const Response response = client.exchange(get("/text?bytes=20000000"));
  EXPECT_EQ(response.body.size(), 20'000'000U);
  EXPECT_EQ(client.exchange(get("/text")).status, 200);
}

TEST_F(EarlyAnswerTest, ALingerEndsWhenItsTimeIsOver) {
  options_.timeouts.linger = base::Milliseconds(50);
  start();
  RawClient client = connect();
  EXPECT_EQ(client.exchange(get("/text", "Connection: close\r\n")).status, 200);
  // The client never closes its side; the server does not wait for ever.
  EXPECT_TRUE(observer_.wait_for_closed(1));
}

}  // namespace
}  // namespace fenceline::proxy::testing
