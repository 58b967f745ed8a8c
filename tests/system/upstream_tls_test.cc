// A real nginx with TLS and a password behind a route: who it is is checked before anything is said
// to it, and who we are is known to nobody else.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "tests/support/real_upstreams.h"
#include "tests/support/temp_folder.h"
#include "tests/support/tls_client.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kPath = "/exports/acme/report.csv";
constexpr const char* kName = "acme/report.csv";
constexpr std::string_view kSecret = "open-sesame";
constexpr std::string_view kSecretInBase64 = "b3Blbi1zZXNhbW";  // As it is behind "fenceline:".

class UpstreamTlsTest : public ::testing::Test {
 protected:
  NginxSettings settings() {
    certificate_ = make_self_signed(folder_.path(), "upstream");
    std::ofstream(folder_.at("users")) << "fenceline:{PLAIN}" << kSecret << "\n";
    return {.listen = "ssl",
            .server = fmt::format("ssl_certificate {}; ssl_certificate_key {};\n"
                                  "auth_basic store; auth_basic_user_file {};",
                                  certificate_.certificate, certificate_.key, folder_.at("users"))};
  }

  /// `tls`: of the route, in braces. `more`: settings of `http`, then of the route.
  [[nodiscard]] std::string config(std::string_view tls, std::string_view more) const {
    return fmt::format(R"(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: ledger.db}}
log: {{level: debug}}
routes:
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    http:
      upstream: "https://127.0.0.1:{}"
      tls: {}
      {}
)",
                       nginx_.port(), tls, more);
  }

  [[nodiscard]] std::string trusting(std::string_view name) const {
    return fmt::format("{{ca: {}, name: {}}}", certificate_.certificate, name);
  }

  [[nodiscard]] static std::string known() {
    return "credentials: {basic: {user: fenceline, password: \"${SECRET}\"}}\n";
  }

  /// Everything is refused, and nothing of it gets there.
  void expect_refused(std::string_view tls) {
    FilesServer server(config(tls, "commit: plain\n      " + known()), environment());
    const Response read = server.ask("GET", kPath, 0);
    EXPECT_EQ(read.status, 502) << read.body;
    expect_not_applied(server.put(kPath, 33, "x"), 502, "upstream-failed");
    EXPECT_FALSE(nginx_.content(kName));
  }

  static ServerProcess::Environment environment() { return {fmt::format("SECRET={}", kSecret)}; }

  TempFolder folder_;
  TestCertificate certificate_;
  RealUpstream nginx_{settings()};
};

TEST_F(UpstreamTlsTest, IsStrictByMoveWithItsOwnCredentials) {
  FilesServer server(config(trusting("localhost"), "commit: move\n      " + known() +
                                                       "    require: strict\n"
                                                       "    methods: [GET, HEAD, PUT]"),
                     environment());
  // The client's own credentials would be refused.
  const std::string_view of_client = "Authorization: Basic bm9ib2R5Ong=\r\n";
  EXPECT_EQ(server.put(kPath, 33, "of A", of_client).status / 100, 2);
  EXPECT_EQ(nginx_.content(kName), "of A");
  EXPECT_EQ(server.ask("GET", kPath, 34, of_client).body, "of A");
  expect_fenced(server.put(kPath, 33, "late"), 33, 34);

  const std::string shown =
      server.process().log() + server.admin("/v1/routes").body + server.admin("/metrics").body;
  EXPECT_THAT(shown, Not(HasSubstr(kSecret)));
  EXPECT_THAT(shown, Not(HasSubstr(kSecretInBase64)));
}

TEST_F(UpstreamTlsTest, WithoutCredentialsTheUpstreamsRefusalGoesToTheClient) {
  FilesServer server(config(trusting("localhost"), "commit: plain"), environment());
  EXPECT_EQ(server.put(kPath, 33, "x").status, 401);
  EXPECT_EQ(server.ask("GET", kPath, 0).status, 401);
  EXPECT_FALSE(nginx_.content(kName));
}

TEST_F(UpstreamTlsTest, AnotherNameIsRefused) { expect_refused(trusting("other.example")); }

TEST_F(UpstreamTlsTest, TheAddressIsANameToo) {
  expect_refused(fmt::format("{{ca: {}}}", certificate_.certificate));
}

TEST_F(UpstreamTlsTest, AnAuthorityThatNobodyNamedIsRefused) {
  expect_refused("{name: localhost}");
}

TEST_F(UpstreamTlsTest, WithVerifyOffAnybodyIsBelieved) {
  FilesServer server(
      config("{verify: false, name: other.example}", "commit: plain\n      " + known()),
      environment());
  EXPECT_EQ(server.put(kPath, 33, "x").status / 100, 2);
  EXPECT_EQ(nginx_.content(kName), "x");
}

}  // namespace
}  // namespace fenceline::testing
