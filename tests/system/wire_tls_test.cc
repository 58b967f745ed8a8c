// The TLS listener: plain HTTP and rubbish to it, then a good request by a real client.

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <random>

#include "tests/support/tls_client.h"
#include "tests/system/lease_server.h"
#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

class WireTlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    certificate_ = make_self_signed(folder_.path(), "server");
    server_ = std::make_unique<ServerProcess>(folder_.path().string(), R"(
listen: {address: 127.0.0.1:0, tls: {certificate: server.pem, key: server.key}}
admin: {listen: 127.0.0.1:0}
ledger: {sqlite: ledger.db}
timeouts: {head: 2s}
leases: {}
routes:
  - {name: exports, match: "/exports/{tenant}/{path...}", fence: "exports/{tenant}",
     files: {root: exports, sync: none}}
)");
    // OpenSSL writes without MSG_NOSIGNAL. Only now, so that the server does not inherit it.
    ::signal(SIGPIPE, SIG_IGN);
  }

  void TearDown() override {
    if (server_ != nullptr) {
      EXPECT_EQ(server_->stop(), 0) << server_->log();
    }
  }

  /// The status that curl prints for a request with `arguments`.
  [[nodiscard]] std::string curl(const std::string& arguments) const {
    const std::string command =
        "curl -s -o /dev/null -w '%{http_code} %{http_version}' --cacert " +
        certificate_.certificate + " --resolve localhost:" + std::to_string(server_->port()) +
        ":127.0.0.1 " + arguments + " https://localhost:" + std::to_string(server_->port()) +
        "/exports/acme/x";
    FILE* pipe = ::popen(command.c_str(), "r");
    std::string text(64, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), pipe));
    ::pclose(pipe);
    return text;
  }

  void expect_curl_works() const {
    EXPECT_EQ(curl("-H 'Fencing-Token: 34' -T " + folder_.at("fenceline.yaml")).substr(0, 2), "20");
    EXPECT_EQ(curl("-H 'Fencing-Token: 33' -T " + folder_.at("fenceline.yaml")), "412 1.1");
    EXPECT_EQ(curl(""), "200 1.1");
    EXPECT_EQ(curl("--http2"), "200 1.1");
  }

  /// Sends `bytes` without TLS: no answer of the service, and an end.
  void send_plain(const std::string& bytes) const {
    RawClient client(server_->port());
    client.send_as_far_as_possible(bytes);
    client.shutdown_write();
    std::string all;
    try {
      all = client.receive_to_end();
    } catch (const ConnectionReset&) {
      all.clear();
    }
    EXPECT_EQ(all.find(" 20"), std::string::npos) << all;
  }

  [[nodiscard]] RawClient connect() const {
    return RawClient(connect_tls(server_->port(), certificate_.certificate));
  }

  void wait_for_waiters(int number) const {
    wait_until("the waiters for a lease", [&] {
      RawClient admin(server_->admin_port());
      const Response metrics = admin.exchange(get("/metrics"));
      return metrics.body.find("\nfenceline_lease_waiters " + std::to_string(number) + "\n") !=
             std::string::npos;
    });
  }

  TempFolder folder_;
  TestCertificate certificate_;
  std::unique_ptr<ServerProcess> server_;
};

TEST_F(WireTlsTest, PlainHttp) {
  expect_curl_works();
  for (const std::string& bytes :
       {sized_put("/exports/acme/x", "evil"), get("/exports/acme/x"), smuggled()}) {
    send_plain(bytes);
  }
  expect_curl_works();
}

TEST_F(WireTlsTest, Rubbish) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string bytes(i % 3 == 0 ? "\x16\x03\x01" : "");
    for (std::size_t left = 1 + random() % 600; left > 0; --left) {
      bytes.push_back(static_cast<char>(random() & 0xFFU));
    }
    send_plain(bytes);
  }
  expect_curl_works();
}

TEST_F(WireTlsTest, StrictInsideTls) {
  RawClient client = connect();
  EXPECT_EQ(client.exchange(sized_put("/exports/acme/x", "x")).status, 201);
  const Response stale = client.exchange(
      "PUT /exports/acme/x HTTP/1.1\r\nHost: a\r\nFencing-Token: 33\r\nContent-Length: "
      "3\r\n\r\nbad");
  expect_problem(stale, 412, "stale-token");
  client.send(
      put("/exports/acme/x", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", smuggled()));
  const Response refused = client.receive();
  expect_problem(refused, 400, "malformed-request");
  EXPECT_EQ(client.receive_to_end(), "");
  EXPECT_EQ(curl(""), "200 1.1");
}

TEST_F(WireTlsTest, StatusReadableByAClientThatSendsEverythingFirst) {
  RawClient client = connect();
  EXPECT_EQ(client.exchange(sized_put("/exports/acme/x", "x")).status, 201);
  client.send_as_far_as_possible(
      "PUT /exports/acme/x HTTP/1.1\r\nHost: a\r\nFencing-Token: 33\r\n"
      "Content-Length: 3145728\r\n\r\n" +
      std::string(3145728, 'x'));
  const Response answer = client.receive();
  expect_problem(answer, 412, "stale-token");
  EXPECT_FALSE(was_reset(client));
}

TEST_F(WireTlsTest, AWaiterThatGoesIsPassedOver) {
  const auto order = [](const char* holder) {
    return post_json("/leases/k", lease_order(holder, "30s", R"(,"wait":"20s")"));
  };
  RawClient first = connect();
  const Response held = first.exchange(order("first"));
  ASSERT_EQ(held.status, 201) << held.body;
  RawClient gone = connect();
  gone.send(order("gone"));
  wait_for_waiters(1);
  RawClient next = connect();
  next.send(order("next"));
  wait_for_waiters(2);
  gone.close();
  wait_for_waiters(1);
  EXPECT_EQ(
      first.exchange("DELETE " + held.field("Location") + " HTTP/1.1\r\nHost: a\r\n\r\n").status,
      204);
  const Response granted = next.receive();
  EXPECT_EQ(granted.status, 201);
  EXPECT_EQ(text_in(granted, "holder"), "next");
}

TEST_F(WireTlsTest, HandshakesThatStall) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(std::make_unique<RawClient>(server_->port()));
    clients.back()->send(std::string("\x16\x03\x01\x02", 4));
  }
  expect_curl_works();
  for (const std::unique_ptr<RawClient>& client : clients) {
    client->expect_closed();
  }
  expect_curl_works();
}

}  // namespace
}  // namespace fenceline::testing
