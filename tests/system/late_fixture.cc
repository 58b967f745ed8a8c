#include "tests/system/late_fixture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/support/child_process.h"

namespace fenceline::testing {

using ::testing::HasSubstr;
using ::testing::Not;

void LateWriteTest::serve(std::uint16_t upstream, std::string_view settings) {
  relay_.emplace(upstream);
  server_.emplace(fmt::format(R"(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: ledger.db}}
leases: {{min_ttl: 10ms}}
routes:
- name: exports
  match: /exports/{{tenant}}/{{path...}}
  fence: exports/{{tenant}}
  http: {{upstream: "http://127.0.0.1:{}", timeout: 3s, {}}}
- name: reports
  match: /reports/{{tenant}}/{{path...}}
  fence: exports/{{tenant}}
  files: {{root: reports}}
)",
                              relay_->port(), settings));
}

void LateWriteTest::end() {
  server_.reset();
  relay_.reset();
}

void LateWriteTest::lose_upload_of_a(const std::string& beginning) {
  relay_->park(beginning);
  expect_unknown(server_->put(kLatePath, 33, upload_of_a()));
  relay_->wait_for_parked(beginning);
  EXPECT_EQ(server_->metric("fenceline_unsettled_writes"), 1);
}

void LateWriteTest::expect_unknown(const Response& answer) {
  EXPECT_EQ(answer.status, 504) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr("\"urn:fenceline:problem:upstream-timeout\""));
  EXPECT_THAT(answer.body, HasSubstr("\"applied\":\"unknown\""));
}

void LateWriteTest::expect_b_waits(std::string_view words, bool says_how_long) {
  for (const Response& answer :
       {server_->put(kLatePath, 34, kOfB), server_->ask("GET", kLatePath, 34),
        server_->ask("DELETE", kLatePath, 34), server_->put(kOtherRoute, 34, kOfB)}) {
    expect_not_applied(answer, 503, "draining");
    EXPECT_THAT(answer.body, HasSubstr(words));
    EXPECT_THAT(answer.body, HasSubstr("older token 33"));
    EXPECT_EQ(answer.field("Fencing-Highest"), "34");
    const std::string wait = answer.field("Retry-After");
    EXPECT_GT(std::atoi(wait.c_str()), says_how_long ? 3500 : 0) << wait;
    EXPECT_LE(std::atoi(wait.c_str()), 3600);
  }
  EXPECT_EQ(server_->put("/exports/other/report.csv", 1, "not acme's").status / 100, 2);
  EXPECT_EQ(server_->put("/reports/other/report.csv", 1, "not acme's").status / 100, 2);
  EXPECT_THAT(server_->admin("/v1/unsettled").body,
              HasSubstr(R"({"unsettled":[{"key":"exports/acme","token":"33","route":"exports")"));
}

void LateWriteTest::expect_all_settled() {
  EXPECT_THAT(server_->admin("/v1/unsettled").body, Not(HasSubstr(kLateKey)));
  expect_fenced(server_->put(kLatePath, 33, upload_of_a()), 33, 34);
}

void LateWriteTest::settle_key() {
  const char* binary = std::getenv("FENCELINE_BINARY");
  const std::string admin = fmt::format("http://127.0.0.1:{}", server_->process().admin_port());
  ChildProcess command({binary == nullptr ? "FENCELINE_BINARY?" : binary, "fences", "settle",
                        std::string(kLateKey), "--reason", "it has landed", "--admin", admin},
                       server_->at("output"));
  EXPECT_EQ(command.wait(), 0) << command.output();
  EXPECT_THAT(command.output(), HasSubstr("exports/acme: the write with token 33"));
}

}  // namespace fenceline::testing
