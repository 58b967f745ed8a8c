// Clients that are slow or silent. The server's time-outs are short here; the tests wait for what
// the server does, never for a time.

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

constexpr std::string_view kShort = R"(
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
ledger: {sqlite: ledger.db}
timeouts: {head: 800ms, body: 800ms, keep_alive: 800ms, write: 800ms}
routes:
  - {name: exports, match: "/exports/{tenant}/{path...}", fence: "exports/{tenant}",
     files: {root: exports, sync: none}}
)";

class WireTimeoutTest : public WireTest {
 protected:
  static void SetUpTestSuite() { start(kShort); }

  /// The line of the metric that counts answers whose client did not take them.
  static std::string answers_cut_off() {
    const std::string metrics = ask_admin("/metrics").body;
    const std::size_t at = metrics.find("\nfenceline_http_answers_cut_off_total ");
    EXPECT_NE(at, std::string::npos);
    return metrics.substr(at + 1, metrics.find('\n', at + 1) - at - 1);
  }

  /// True if the server has closed its side, after at most 20 ms.
  static bool has_ended(const RawClient& client) {
    pollfd entry{.fd = client.fd(), .events = POLLIN | POLLRDHUP, .revents = 0};
    return ::poll(&entry, 1, 20) > 0;
  }

  /// Sends `bytes` again and again until the server has answered or closed.
  static void drip(RawClient& client, std::string_view bytes) {
    wait_until("the server to lose patience", [&] {
      client.send_as_far_as_possible(bytes);
      pollfd entry{.fd = client.fd(), .events = POLLIN, .revents = 0};
      return ::poll(&entry, 1, 20) > 0;
    });
  }
};

TEST_F(WireTimeoutTest, HalfAHead) {
  for (const std::string& bytes :
       {std::string("G"), std::string("PUT /exports/acme/x HTTP/1.1\r\n"),
        std::string("PUT /exports/acme/x HTTP/1.1\r\nHost: a\r\nFencing-Token: 34\r\n")}) {
    SCOPED_TRACE(bytes);
    RawClient client(server().port());
    client.send(bytes);
    const Response answer = client.receive();
    expect_problem(answer, 408, "request-timeout");
    expect_after(client, answer, After::kClosed);
  }
}

TEST_F(WireTimeoutTest, ByteByByteIsNoExcuseForAHead) {
  RawClient client(server().port());
  client.send("GET /exports/acme/canary HTTP/1.1\r\nHost: a\r\nA: ");
  drip(client, "x");
  const Response answer = client.receive();
  expect_problem(answer, 408, "request-timeout");
}

TEST_F(WireTimeoutTest, IdleBody) {
  for (const std::string& fields :
       {std::string("Content-Length: 1000\r\n"), std::string("Transfer-Encoding: chunked\r\n")}) {
    SCOPED_TRACE(fields);
    RawClient client(server().port());
    client.send(put("/exports/acme/x", fields, "3e8\r\nabc"));
    const Response answer = client.receive();
    expect_problem(answer, 408, "request-timeout");
    expect_after(client, answer, After::kClosed);
    EXPECT_EQ(content("exports/acme/x"), std::nullopt);
    expect_unharmed();
  }
}

TEST_F(WireTimeoutTest, IdleBodyAfter100) {
  RawClient client(server().port());
  const Response interim =
      client.exchange(put("/exports/acme/x", "Expect: 100-continue\r\nContent-Length: 5\r\n", ""));
  EXPECT_EQ(interim.status, 100);
  expect_problem(client.receive(), 408, "request-timeout");
  expect_unharmed();
}

TEST_F(WireTimeoutTest, ASlowBodyThatMovesIsNotIdle) {
  const auto begin = std::chrono::steady_clock::now();
  RawClient client(server().port());
  client.send(put("/exports/acme/slow", "Transfer-Encoding: chunked\r\n", ""));
  int sent = 0;
  while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(2400)) {
    client.send("1\r\nx\r\n");
    ++sent;
    breathe();
  }
  EXPECT_EQ(client.exchange("0\r\n\r\n").status, 201);
  EXPECT_EQ(content("exports/acme/slow"), std::string(static_cast<std::size_t>(sent), 'x'));
}

TEST_F(WireTimeoutTest, IdleConnectionsAreClosedWithoutAWord) {
  RawClient fresh(server().port());
  EXPECT_TRUE(fresh.ended_cleanly());
  RawClient used(server().port());
  EXPECT_EQ(used.exchange(get("/exports/acme/canary")).status, 200);
  EXPECT_TRUE(used.ended_cleanly());
}

TEST_F(WireTimeoutTest, TheSecondHeadOfAConnectionHasItsTimeToo) {
  RawClient client(server().port());
  EXPECT_EQ(client.exchange(get("/exports/acme/canary")).status, 200);
  client.send("GET /exports");
  const Response answer = client.receive();
  expect_problem(answer, 408, "request-timeout");
  expect_after(client, answer, After::kClosed);
}

TEST_F(WireTimeoutTest, BodyOfARefusedRequestThatNeverComes) {
  RawClient client(server().port());
  client.send(
      "PUT /exports/acme/x HTTP/1.1\r\nHost: a\r\nFencing-Token: 33\r\n"
      "Content-Length: 100\r\n\r\nabc");
  const Response answer = client.receive();
  expect_problem(answer, 412, "stale-token");
  client.expect_closed();
  expect_unharmed();
}

TEST_F(WireTimeoutTest, BodyOfARefusedRequestThatComesInDrops) {
  for (const char* length : {"10000", "100000000"}) {
    SCOPED_TRACE(length);
    RawClient client(server().port());
    client.send(std::string("PUT /exports/acme/x HTTP/1.1\r\nHost: a\r\nFencing-Token: 33\r\n"
                            "Content-Length: ") +
                length + "\r\n\r\n");
    expect_problem(client.receive(), 412, "stale-token");
    wait_until("the server to lose patience",
               [&] { return client.send_as_far_as_possible("x") == 0 || has_ended(client); });
    expect_unharmed();
  }
}

TEST_F(WireTimeoutTest, ClientThatDoesNotTakeItsAnswer) {
  write("/exports/acme/large", std::string(32 * 1024 * 1024, 'x'));
  const std::string before = answers_cut_off();
  RawClient client(server().port(), 4096);
  client.send(get("/exports/acme/large"));
  wait_until("the answer to be cut off", [&] { return answers_cut_off() != before; });
  EXPECT_EQ(ask(get("/exports/acme/canary")).status, 200);
}

}  // namespace
}  // namespace fenceline::testing
