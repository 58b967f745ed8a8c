// Writes on record whose route is gone, has another name, or leads to another upstream: nobody can
// ask what became of them, so newer tokens wait until an operator says it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/support/child_process.h"
#include "tests/support/conditional_upstream.h"
#include "tests/support/delaying_relay.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kPath = "/exports/acme/report.csv";
constexpr std::string_view kOther = "/reports/acme/report.csv";
constexpr const char* kPut = "PUT /acme/report.csv";

std::string config(std::string_view routes) {
  return fmt::format(R"(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: ledger.db}}
routes:
  - {{name: reports, match: "/reports/{{tenant}}/{{path...}}", fence: "exports/{{tenant}}",
     files: {{root: reports}}}}
{})",
                     routes);
}

std::string http_route(std::string_view name, std::uint16_t port) {
  return fmt::format(
      "  - {{name: {}, match: \"/exports/{{tenant}}/{{path...}}\", fence: \"exports/{{tenant}}\",\n"
      "     http: {{upstream: \"http://127.0.0.1:{}\", timeout: 1s, commit: conditional, "
      "settle: manual}}}}\n",
      name, port);
}

class GoneRouteTest : public ::testing::Test {
 protected:
  /// A's change is on its way, and on record, when the server comes back with other routes.
  void restart_with(std::string_view routes) {
    EXPECT_EQ(server_.put(kPath, 33, "before").status, 201);
    relay_.park(kPut);
    EXPECT_EQ(server_.put(kPath, 33, "of A").status, 504);
    relay_.wait_for_parked(kPut);
    server_.kill();
    server_.set_config(config(routes));
    server_.restart();
    EXPECT_EQ(server_.metric("fenceline_unsettled_writes"), 1);
  }

  void expect_held(const Response& answer, std::string_view words) {
    expect_not_applied(answer, 503, "draining");
    EXPECT_THAT(answer.body, HasSubstr("older token 33"));
    EXPECT_THAT(answer.body, HasSubstr(words));
  }

  void settle_key() {
    const char* binary = std::getenv("FENCELINE_BINARY");
    const std::string admin = fmt::format("http://127.0.0.1:{}", server_.process().admin_port());
    ChildProcess command({binary == nullptr ? "FENCELINE_BINARY?" : binary, "fences", "settle",
                          "exports/acme", "--reason", "the upstream is gone", "--admin", admin},
                         server_.at("output"));
    EXPECT_EQ(command.wait(), 0) << command.output();
    EXPECT_EQ(server_.metric("fenceline_unsettled_writes"), 0);
  }

  ConditionalUpstream upstream_;
  DelayingRelay relay_{upstream_.port()};
  FilesServer server_{config(http_route("exports", relay_.port()))};
};

TEST_F(GoneRouteTest, ARemovedRouteHoldsItsKeysUntilAnOperatorSettlesThem) {
  restart_with("");
  expect_held(server_.put(kOther, 34, "of B"), "no longer configured");
  expect_held(server_.ask("GET", kOther, 34), "fenceline fences settle");
  EXPECT_EQ(server_.put("/reports/other/report.csv", 1, "another key").status, 201);
  settle_key();
  EXPECT_EQ(server_.put(kOther, 34, "of B").status, 201);
}

TEST_F(GoneRouteTest, ARenamedRouteTooAndTheOldNameBringsItBack) {
  restart_with(http_route("renamed", relay_.port()));
  expect_held(server_.put(kPath, 34, "of B"), "route exports");
  server_.kill();
  server_.set_config(config(http_route("exports", relay_.port())));
  server_.restart();
  EXPECT_EQ(server_.put(kPath, 34, "of B").status, 204) << "sealed";
  EXPECT_THAT(relay_.deliver(kPut), ::testing::ElementsAre(::testing::StartsWith("HTTP/1.1 412")));
  EXPECT_EQ(upstream_.content("/acme/report.csv"), "of B");
}

TEST_F(GoneRouteTest, AnotherUpstreamCannotRevokeWhatTheFirstOneGot) {
  ConditionalUpstream other;
  restart_with(http_route("exports", other.port()));
  expect_held(server_.put(kPath, 34, "of B"), "Only an operator can tell");
  EXPECT_FALSE(other.content("/acme/report.csv"));
  settle_key();
  EXPECT_EQ(server_.put(kPath, 34, "of B").status, 201);
  EXPECT_EQ(other.content("/acme/report.csv"), "of B");
}

}  // namespace
}  // namespace fenceline::testing
