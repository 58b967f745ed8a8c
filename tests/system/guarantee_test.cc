// What a route guarantees in front of a real upstream: found by the probe, said by the admin API,
// and asked for by `require`.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/support/conditional_upstream.h"
#include "tests/support/real_upstreams.h"
#include "tests/support/temp_folder.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string config(std::uint16_t port, std::string_view http, std::string_view route = {}) {
  return fmt::format(R"(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: ledger.db}}
routes:
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    http: {{upstream: "http://127.0.0.1:{}", {}}}
{})",
                     port, http, route);
}

/// The log of a server that must not start.
std::string refusal(const std::string& text) {
  const TempFolder folder;
  ServerProcess server(ServerProcess::NoWait{}, folder.path().string(), text);
  EXPECT_NE(server.wait(), 0);
  EXPECT_THAT(server.log(), Not(HasSubstr(" serving: ")));
  return server.log();
}

std::string routes_of(const std::string& text) {
  return FilesServer(text).admin("/v1/routes").body;
}

std::string operation(std::string_view name, std::string_view guarantee) {
  return fmt::format(R"({{"operation":"{}","guarantee":"{}")", name, guarantee);
}

TEST(GuaranteeTest, ApacheIsNotStrictAndTheRefusalSaysWhy) {
  const RealUpstream apache(UpstreamKind::kApache);
  const std::string log = refusal(config(apache.port(), "commit: auto",
                                         "    require: strict\n    methods: [GET, HEAD, PUT]\n"));
  EXPECT_THAT(log, AllOf(HasSubstr("exports"), HasSubstr("strict"), HasSubstr("bounded"),
                         HasSubstr("PUT"), HasSubstr("no MOVE:"), HasSubstr("no conditions:")));
  EXPECT_EQ(apache.leftovers(), 0U) << "of the probe";

  const std::string routes = routes_of(config(apache.port(), "commit: auto"));
  EXPECT_THAT(routes, AllOf(HasSubstr(R"("guarantee":"bounded")"),
                            HasSubstr(operation("PUT", "bounded")), HasSubstr("no MOVE:")));
}

TEST(GuaranteeTest, NginxIsStrictForPutByMove) {
  const RealUpstream nginx(UpstreamKind::kNginx);
  FilesServer server(
      config(nginx.port(), "commit: auto", "    require: strict\n    methods: [GET, PUT]\n"));
  EXPECT_THAT(server.admin("/v1/routes").body,
              AllOf(HasSubstr(R"("methods":"GET, HEAD, PUT","writes":"required")"),
                    HasSubstr(R"("guarantee":"strict")"), HasSubstr(operation("PUT", "strict")),
                    HasSubstr("MOVE"), Not(HasSubstr(R"("operation":"DELETE")"))));
  EXPECT_EQ(server.put("/exports/acme/report.csv", 33, "of A").status / 100, 2);
  EXPECT_EQ(server.ask("DELETE", "/exports/acme/report.csv", 33).status, 405);
  EXPECT_EQ(nginx.leftovers(), 0U);
}

TEST(GuaranteeTest, OfAnUpstreamNobodySaysThatNothingWasWrittenThroughUs) {
  const RealUpstream nginx(UpstreamKind::kNginx);
  FilesServer server(config(nginx.port(), "commit: plain, settle: 1s"));
  ASSERT_EQ(server.put("/exports/acme/a", 33, "of A").status / 100, 2);
  const Response stamp = server.admin("/v1/stamp?route=exports&name=acme/a");
  EXPECT_EQ(stamp.status, 404) << stamp.body;
  EXPECT_THAT(stamp.body, AllOf(HasSubstr("cannot be looked up here"),
                                Not(HasSubstr("written_through_fenceline"))));
}

TEST(GuaranteeTest, TheWeakestMethodOfARouteIsWhatRequireLooksAt) {
  const RealUpstream nginx(UpstreamKind::kNginx);
  const std::string log = refusal(config(nginx.port(), "commit: auto", "    require: strict\n"));
  EXPECT_THAT(log, AllOf(HasSubstr("exports"), HasSubstr("bounded"), HasSubstr("held back")));

  EXPECT_THAT(
      routes_of(config(nginx.port(), "commit: auto", "    require: bounded\n")),
      AllOf(HasSubstr(R"("guarantee":"bounded")"), HasSubstr(operation("PUT", "strict")),
            HasSubstr(operation("DELETE", "bounded")), HasSubstr(operation("POST", "bounded"))));
}

TEST(GuaranteeTest, ConditionsAreStrictWhereAnOperatorSettlesCreations) {
  const ConditionalUpstream own;
  const std::string_view route = "    require: strict\n    methods: [GET, HEAD, PUT, DELETE]\n";
  EXPECT_THAT(routes_of(config(own.port(), "commit: auto, settle: manual", route)),
              AllOf(HasSubstr(R"("guarantee":"strict")"), HasSubstr(operation("PUT", "strict")),
                    HasSubstr(operation("DELETE", "strict")), HasSubstr("If-Match")));
  EXPECT_THAT(refusal(config(own.port(), "commit: auto, settle: 1m", route)),
              AllOf(HasSubstr("settle: manual"), HasSubstr("strict")));
}

TEST(GuaranteeTest, AModeThatTheUpstreamDoesNotHaveIsNotBelieved) {
  const RealUpstream apache(UpstreamKind::kApache);
  EXPECT_THAT(routes_of(config(apache.port(), "commit: move", "    methods: [GET, HEAD, PUT]\n")),
              AllOf(HasSubstr(R"("guarantee":"bounded")"), HasSubstr(operation("PUT", "bounded")),
                    HasSubstr("by MOVE as configured, but not proven")));
}

TEST(GuaranteeTest, PlainIsNeverStrict) {
  const RealUpstream nginx(UpstreamKind::kNginx);
  EXPECT_THAT(refusal(config(nginx.port(), "commit: plain", "    require: strict\n")),
              AllOf(HasSubstr("strict"), HasSubstr("commit: plain")));
}

}  // namespace
}  // namespace fenceline::testing
