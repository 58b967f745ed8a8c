// The same over TLS: whom we trust, and what TLS says by itself is no answer.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/base/net/client_fixture.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tls_client.h"

namespace fenceline::base::net::testing {
namespace {

using fenceline::testing::make_self_signed;
using fenceline::testing::TempFolder;
using fenceline::testing::TestCertificate;

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class ClientTlsTest : public ClientTest {
 protected:
  ClientTlsTest() : identity_(make_self_signed(folder_.path(), "upstream")) {}

  HttpClientOptions secure(const HostileUpstream& upstream) const {
    HttpClientOptions options = options_for(upstream);
    options.tls = true;
    options.tls_ca_file = identity_.certificate;
    options.tls_name = "localhost";
    return options;
  }

  TempFolder folder_;
  TestCertificate identity_;
};

TEST_F(ClientTlsTest, SendsAndReceivesAndReuses) {
  std::string large(3'000'000, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) {
    large[i] = static_cast<char>(i * 13 + i / 1000);
  }
  HostileUpstream upstream(always("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n" + large),
                           identity_);
  use(secure(upstream));
  const Outcome first = call({.method = "PUT", .body = {"small", large}});
  EXPECT_FALSE(first.error) << first.error->detail;
  EXPECT_TRUE(first.body == large);
  EXPECT_TRUE(upstream.received(0).ends_with("small" + large));
  EXPECT_TRUE(get().reused);
  EXPECT_EQ(upstream.accepted(), 1U);
}

TEST_F(ClientTlsTest, AsksForTheNameAndChecksIt) {
  HostileUpstream upstream(
      [](UpstreamPeer& peer) {
        peer.apply(peer.server_name());
        always(kOk)(peer);
      },
      identity_);
  use(secure(upstream));
  EXPECT_EQ(get().body, "ok");
  EXPECT_EQ(upstream.applied().front(), "localhost");

  HttpClientOptions other = secure(upstream);
  other.tls_name = "other.example";
  use(other);
  const Outcome refused = get();
  EXPECT_EQ(refused.kind(), ErrorKind::kUpstreamFailed);
  EXPECT_EQ(refused.applied(), Applied::kNo);
  EXPECT_NE(refused.error->detail.find("certificate"), std::string::npos) << refused.error->detail;

  other.tls_name = "";
  use(other);
  EXPECT_EQ(get().kind(), ErrorKind::kUpstreamFailed) << "it is not the certificate of 127.0.0.1";
}

TEST_F(ClientTlsTest, TrustsNobodyElse) {
  HostileUpstream upstream(always(kOk), identity_);
  HttpClientOptions options = secure(upstream);
  options.tls_ca_file = make_self_signed(folder_.path(), "other").certificate;
  use(options);
  EXPECT_EQ(get().kind(), ErrorKind::kUpstreamFailed);
  options.tls_ca_file = "";
  use(options);
  EXPECT_EQ(get().kind(), ErrorKind::kUpstreamFailed) << "the system does not know it";
  options.tls_verify = false;
  options.tls_name = "whatever.example";
  use(options);
  EXPECT_EQ(get().body, "ok") << "asked to trust anybody";
}

TEST_F(ClientTlsTest, NamesAFileThatCannotBeRead) {
  HttpClientOptions options;
  options.host = "localhost";
  options.tls = true;
  options.tls_ca_file = folder_.path() / "missing.pem";
  const auto client = make_http_client(options);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().kind, ErrorKind::kInternal);
  EXPECT_NE(client.error().detail.find("missing.pem"), std::string::npos);
}

TEST_F(ClientTlsTest, AnUpstreamWithoutTlsIsRefusedAndOneThatStallsIsATimeOut) {
  HostileUpstream plain([](UpstreamPeer& peer) {
    peer.read_bytes(1);
    peer.send("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  use(secure(plain));
  EXPECT_EQ(get().kind(), ErrorKind::kUpstreamFailed);

  HostileUpstream silent([](UpstreamPeer& peer) { peer.read_to_end(); });
  HttpClientOptions options = secure(silent);
  options.connect = Milliseconds(40);
  use(options);
  const Outcome outcome = get();
  EXPECT_EQ(outcome.kind(), ErrorKind::kUpstreamTimeout);
  EXPECT_EQ(outcome.applied(), Applied::kNo);
  EXPECT_EQ(client_->connections(), 0U);
}

TEST_F(ClientTlsTest, SessionTicketsAreNoAnswer) {
  HostileUpstream upstream(always(kOk), identity_);
  use(secure(upstream));
  // TLS 1.3 sends them behind the handshake, so they are there when the second piece goes out.
  const Outcome outcome = call({.method = "PUT", .body = std::vector<std::string>(50, "piece")});
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.pieces_sent, 50U);
  EXPECT_TRUE(get().reused);
}

TEST_F(ClientTlsTest, HearsAnAnswerWhileItSends) {
  HostileUpstream upstream(
      [](UpstreamPeer& peer) {
        peer.read_bytes(1000);
        peer.send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig");
        peer.wait_until_told();
      },
      identity_);
  use(secure(upstream));
  const Outcome outcome =
      call({.method = "PUT", .body = {std::string(32UL * 1024 * 1024, 'x'), "rest"}});
  EXPECT_EQ(outcome.status, 413);
  EXPECT_EQ(outcome.body, "big");
  EXPECT_TRUE(outcome.answered);
}

TEST_F(ClientTlsTest, ABodyThatEndsWithoutCloseNotifyMayBeCut) {
  const std::string answer = "HTTP/1.1 200 OK\r\n\r\nall of it";
  HostileUpstream clean(
      [answer](UpstreamPeer& peer) {
        peer.read_request();
        peer.send(answer);
        peer.shutdown_write();
      },
      identity_);
  use(secure(clean));
  EXPECT_FALSE(get().error);

  HostileUpstream cut(
      [answer](UpstreamPeer& peer) {
        peer.read_request();
        peer.send(answer);
      },
      identity_);
  use(secure(cut));
  const Outcome outcome = get();
  EXPECT_EQ(outcome.body, "all of it");
  EXPECT_EQ(outcome.kind(), ErrorKind::kUpstreamFailed);
}

TEST_F(ClientTlsTest, ThrowsAwayAnIdleConnectionThatSpeaksOrCloses) {
  HostileUpstream upstream(
      [](UpstreamPeer& peer) {
        peer.read_request();
        peer.send(kOk);
        peer.wait_until_told();
        if (peer.index() == 0) {
          peer.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad");
          peer.apply("sent");
          peer.read_to_end();
        } else {
          peer.shutdown_write();
          peer.apply("closed");
          peer.read_to_end();
        }
      },
      identity_);
  use(secure(upstream));
  for (std::size_t i = 1; i <= 2; ++i) {
    const Outcome outcome = get();
    EXPECT_EQ(outcome.body, "ok");
    EXPECT_FALSE(outcome.reused);
    upstream.tell();
    ASSERT_TRUE(run_until([&] { return upstream.applied().size() == i; }));
  }
  EXPECT_FALSE(get().reused);
}

}  // namespace
}  // namespace fenceline::base::net::testing
