// Routes that do not refuse: observed, unfenced, shared fences; and requests that a file store must
// not half understand.

#include <gtest/gtest.h>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

constexpr std::string_view kPolicies = R"(
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
ledger: {sqlite: ledger.db}
routes:
  - {name: exports, match: "/exports/{tenant}/{path...}", fence: "exports/{tenant}",
     files: {root: exports, sync: none}}
  - {name: reports, match: "/reports/{tenant}/{path...}", fence: "exports/{tenant}",
     files: {root: reports, sync: none}}
  - {name: seen, match: "/seen/{path...}", enforce: false, files: {root: seen, sync: none}}
  - {name: unfenced, match: "/unfenced/{path...}", writes: off, files: {root: unfenced, sync: none}}
)";

class WirePolicyTest : public WireTest {
 protected:
  static void SetUpTestSuite() { start(kPolicies); }

  static Response put_fields(const std::string& path, const std::string& fields) {
    return ask("PUT " + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "Content-Length: 1\r\n\r\nx");
  }
};

TEST_F(WirePolicyTest, ObservedRoutesLetPassAndCount) {
  EXPECT_EQ(put_fields("/seen/x", "Fencing-Token: 5\r\n").status, 201);
  const Response stale = put_fields("/seen/x", "Fencing-Token: 4\r\n");
  EXPECT_EQ(stale.status, 204);
  EXPECT_EQ(stale.field("Fencing-Highest"), "5");
  EXPECT_EQ(put_fields("/seen/x", "").status, 204);
  EXPECT_EQ(put_fields("/seen/x", "Fencing-Token: 099\r\n").status, 204);
  EXPECT_EQ(mark_of("seen/x"), "5");
  const std::string metrics = ask_admin("/metrics").body;
  for (const char* reason : {"stale-token", "token-required", "malformed-token"}) {
    EXPECT_NE(metrics.find(std::string("fenceline_rejections_total{enforced=\"false\",reason=\"") +
                           reason + "\",route=\"seen\"} 1"),
              std::string::npos)
        << reason;
  }
}

TEST_F(WirePolicyTest, UnfencedRoutesDoNotLookAtTokens) {
  for (const char* fields : {"Fencing-Token: 5\r\n", "Fencing-Token: 4\r\n", "",
                             "Fencing-Token: x\r\n", "Fencing-Token: 1\r\nFencing-Token: 2\r\n"}) {
    SCOPED_TRACE(fields);
    const Response answer = put_fields("/unfenced/x", fields);
    EXPECT_EQ(answer.status / 100, 2) << answer.body;
    EXPECT_FALSE(answer.has("Fencing-Highest"));
  }
  EXPECT_EQ(mark_of("unfenced/x"), std::nullopt);
}

TEST_F(WirePolicyTest, RoutesThatNameTheSameFenceShareIt) {
  EXPECT_EQ(put_fields("/reports/shared/x", "Fencing-Token: 9\r\n").status, 201);
  expect_problem(put_fields("/exports/shared/x", "Fencing-Token: 8\r\n"), 412, "stale-token");
  EXPECT_EQ(put_fields("/exports/shared/x", "Fencing-Token: 9\r\n").status, 201);
  EXPECT_EQ(put_fields("/exports/other/x", "Fencing-Token: 1\r\n").status, 201);
}

TEST_F(WirePolicyTest, MarksSurviveDeletionAndRestart) {
  const std::string path = "/exports/kept/x";
  EXPECT_EQ(put_fields(path, "Fencing-Token: 20\r\n").status, 201);
  EXPECT_EQ(ask("DELETE " + path + " HTTP/1.1\r\nHost: a\r\nFencing-Token: 21\r\n\r\n").status,
            204);
  expect_problem(put_fields(path, "Fencing-Token: 20\r\n"), 412, "stale-token");
  restart(kPolicies);
  expect_problem(put_fields(path, "Fencing-Token: 20\r\n"), 412, "stale-token");
  EXPECT_EQ(put_fields(path, "Fencing-Token: 21\r\n").status, 201);
  expect_unharmed();
}

TEST_F(WirePolicyTest, ContentThatWouldLoseItsMeaningIsRefused) {
  run({{"an encoding that is not kept",
        sized_put("/exports/acme/x", smuggled(), "Content-Encoding: gzip\r\n"),
        {400},
        After::kKept,
        "malformed-request"},
       {"an upgrade is ignored",
        get("/exports/acme/canary",
            "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
            "HTTP2-Settings: AAMAAABkAAQAAP__\r\n"),
        {200}},
       {"a query of a write is ignored", sized_put("/exports/acme/y?limit=x", "x"), {201}},
       {"deleting nothing", remove("/exports/acme/none"), {404}, After::kKept, "not-found"}});
  EXPECT_EQ(content("exports/acme/x"), std::nullopt);
}

}  // namespace
}  // namespace fenceline::testing
