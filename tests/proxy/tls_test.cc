#include <fmt/format.h>
#include <openssl/ssl.h>

#include <fstream>

#include "tests/proxy/front_fixture.h"
#include "tests/support/tls_client.h"

namespace fenceline::proxy::testing {
namespace {

using fenceline::testing::alpn_of;
using fenceline::testing::ClientError;
using fenceline::testing::connect_tls;
using fenceline::testing::make_self_signed;
using fenceline::testing::TestCertificate;
using fenceline::testing::TlsClientOptions;

class TlsTest : public FrontTest {
 protected:
  TlsTest() : identity_(make_self_signed(folder_, "server")) {
    options_.tls = TlsFiles{.certificate = identity_.certificate, .key = identity_.key};
  }

  RawClient connect_secure(const TlsClientOptions& options = {}) {
    return RawClient(connect_tls(port(), identity_.certificate, options));
  }

  std::string refusal() {
    auto started = start_server(server_options_, {options_}, clock_, request_ids_, observer_);
    return started ? "started" : started.error().detail;
  }

  TestCertificate identity_;
};

TEST_F(TlsTest, ServesRequestsBodiesAndFiles) {
  std::string content(3'000'000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) {
    content[i] = static_cast<char>(i * 13 + i / 1000);
  }
  handler_.file = folder_ / "file";
  std::ofstream(handler_.file, std::ios::binary) << content;
  start();
  RawClient client = connect_secure();
  EXPECT_EQ(client.exchange(put("/echo", "secret")).body, "secret");
  EXPECT_TRUE(client.exchange(put("/echo", content)).body == content);
  EXPECT_TRUE(client.exchange(get("/file")).body == content);
  EXPECT_TRUE(client.exchange(get("/file?offset=1000&length=500000")).body ==
              content.substr(1000, 500'000));
  EXPECT_EQ(client.exchange(get("/pieces?count=5")).body, "piece;piece;piece;piece;piece;");
  client.send(get("/text") + get("/text"));
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(client.receive().status, 200);
}

TEST_F(TlsTest, ARefusalOfALargeBodyIsReadable) {
  start();
  RawClient client = connect_secure();
  client.send("PUT /refuse HTTP/1.1\r\nHost: test\r\nContent-Length: 67108864\r\n\r\n");
  client.send_as_far_as_possible(std::string(1024UL * 1024, 'b'));
  const Response response = client.receive();
  EXPECT_EQ(response.status, 412);
  EXPECT_EQ(response.field("Connection"), "close");
}

TEST_F(TlsTest, EndsWithCloseNotify) {
  start();
  RawClient client = connect_secure();
  EXPECT_EQ(client.exchange(get("/text", "Connection: close\r\n")).status, 200);
  EXPECT_TRUE(client.ended_cleanly());
}

TEST_F(TlsTest, AnUnfinishedHeadIsAnswered408) {
  options_.timeouts.head = base::Milliseconds(300);
  start();
  RawClient client = connect_secure();
  client.send("GET /text HTTP/1.1\r\n");
  EXPECT_EQ(client.receive().status, 408);
}

TEST_F(TlsTest, ChoosesHttp11AndRefusesAClientThatCannot) {
  start();
  EXPECT_EQ(alpn_of(*connect_tls(port(), identity_.certificate, {.alpn = "http/1.1"})), "http/1.1");
  EXPECT_EQ(alpn_of(*connect_tls(port(), identity_.certificate)), "");
  EXPECT_THROW(connect_tls(port(), identity_.certificate, {.alpn = "h2"}), ClientError);
}

TEST_F(TlsTest, RefusesTls11) {
  start();
  EXPECT_THROW(connect_secure({.max_version = TLS1_1_VERSION}), ClientError);
  EXPECT_NO_THROW(connect_secure({.max_version = TLS1_2_VERSION}));
}

TEST_F(TlsTest, APlainRequestIsClosedAndAHandshakeThatStallsToo) {
  options_.timeouts.head = base::Milliseconds(50);
  start();
  RawClient plain = connect();
  plain.send(get("/text"));
  EXPECT_TRUE(observer_.wait_for_closed(1));
  RawClient silent = connect();
  EXPECT_TRUE(observer_.wait_for_closed(2));
  EXPECT_EQ(handler_.started, 0U);
}

TEST_F(TlsTest, OneClientTooManyReads503) {
  options_.max_connections = 1;
  start();
  RawClient one = connect_secure();
  ASSERT_EQ(one.exchange(get("/text")).status, 200);
  RawClient two = connect_secure();
  EXPECT_EQ(two.exchange(get("/text")).status, 503);
}

TEST_F(TlsTest, StopCutsOffAHandshake) {
  start();
  RawClient silent = connect();
  ASSERT_TRUE(observer_.board.wait([this] { return observer_.opened == 1; }));
  EXPECT_FALSE(server_->stop(base::Milliseconds(20)));
  silent.expect_closed();
}

TEST_F(TlsTest, NamesTheFileThatCannotBeUsed) {
  options_.tls->certificate = folder_ / "missing.pem";
  EXPECT_NE(refusal().find("missing.pem"), std::string::npos) << refusal();
  EXPECT_NE(refusal().find("cannot be opened"), std::string::npos) << refusal();

  options_.tls->certificate = identity_.certificate;
  options_.tls->key = folder_ / "empty.key";
  std::ofstream(options_.tls->key) << "";
  EXPECT_NE(refusal().find("empty.key"), std::string::npos) << refusal();

  options_.tls->key = make_self_signed(folder_, "other").key;
  EXPECT_NE(refusal().find("other.key"), std::string::npos) << refusal();
  EXPECT_NE(refusal().find("server.pem"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace fenceline::proxy::testing
