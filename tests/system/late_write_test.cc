// A write that lands late: the upstream gets it when its connection was closed long ago and its
// client was told that nobody knows. Worker A has token 33, worker B has taken over with 34.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/conditional_upstream.h"
#include "tests/support/delaying_relay.h"
#include "tests/support/real_upstreams.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kPath = "/exports/acme/report.csv";
constexpr std::string_view kOtherRoute = "/reports/acme/report.csv";
constexpr std::string_view kKey = "exports/acme";
const std::string kTarget = "/acme/report.csv";  // NOLINT(cert-err58-cpp): the upstream's name
constexpr std::string_view kBefore = "before";
constexpr std::string_view kOfB = "the report of worker B";

// More than is kept: it streams upstream while it arrives, but for its end.
std::string upload_of_a() { return std::string(200'000, 'A'); }

class LateWriteTest : public ::testing::Test {
 protected:
  /// The server in front of a relay to `upstream`, and a files route that shares the fence.
  void serve(std::uint16_t upstream, std::string_view settings) {
    relay_.emplace(upstream);
    server_.emplace(fmt::format(R"(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: ledger.db}}
routes:
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    http: {{upstream: "http://127.0.0.1:{}", timeout: 1s, {}}}
  - name: reports
    match: /reports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    files: {{root: reports}}
)",
                                relay_->port(), settings));
  }

  /// A's upload is parked at the request that begins so.
  void lose_upload_of_a(const std::string& beginning) {
    relay_->park(beginning);
    expect_unknown(server_->put(kPath, 33, upload_of_a()));
    relay_->wait_for_parked(beginning);
    EXPECT_EQ(server_->metric("fenceline_unsettled_writes"), 1);
  }

  static void expect_unknown(const Response& answer) {
    EXPECT_EQ(answer.status, 504) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("\"urn:fenceline:problem:upstream-timeout\""));
    EXPECT_THAT(answer.body, HasSubstr("\"applied\":\"unknown\""));
  }

  /// B waits for A's write, on both routes and also if it only reads; others do not.
  void expect_b_waits(std::string_view words, bool says_how_long = true) {
    for (const Response& answer :
         {server_->put(kPath, 34, kOfB), server_->ask("GET", kPath, 34),
          server_->ask("DELETE", kPath, 34), server_->put(kOtherRoute, 34, kOfB)}) {
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

  void expect_all_settled() {
    EXPECT_THAT(server_->admin("/v1/unsettled").body, Not(HasSubstr(kKey)));
    expect_fenced(server_->put(kPath, 33, upload_of_a()), 33, 34);
  }

  /// By the operator, with the real command.
  void settle_key() {
    const char* binary = std::getenv("FENCELINE_BINARY");
    const std::string admin = fmt::format("http://127.0.0.1:{}", server_->process().admin_port());
    ChildProcess command({binary == nullptr ? "FENCELINE_BINARY?" : binary, "fences", "settle",
                          std::string(kKey), "--reason", "it has landed", "--admin", admin},
                         server_->at("output"));
    EXPECT_EQ(command.wait(), 0) << command.output();
    EXPECT_THAT(command.output(), HasSubstr("exports/acme: the write with token 33"));
  }

  std::optional<DelayingRelay> relay_;
  std::optional<FilesServer> server_;
};

class LateConditionalTest : public LateWriteTest {
 protected:
  LateConditionalTest() { serve(upstream_.port(), "commit: conditional, settle: manual"); }
  // The server and the relay end before the upstream, which waits for its connections.
  ~LateConditionalTest() override {
    server_.reset();
    relay_.reset();
  }
  LateConditionalTest(const LateConditionalTest&) = delete;
  LateConditionalTest& operator=(const LateConditionalTest&) = delete;

  void lose_change_of_a() {
    EXPECT_EQ(server_->put(kPath, 33, kBefore).status, 201);
    lose_upload_of_a("PUT " + kTarget);
  }

  /// What the upstream says when A's write arrives at last.
  void expect_late_write_refused() {
    EXPECT_THAT(relay_->deliver("PUT " + kTarget), ElementsAre(StartsWith("HTTP/1.1 412")));
  }

  ConditionalUpstream upstream_;
};

TEST_F(LateConditionalTest, AWriterIsNotHeldUpAndTheLateWriteIsRefused) {
  lose_change_of_a();
  EXPECT_EQ(server_->put(kPath, 34, kOfB).status, 204);
  expect_late_write_refused();
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
  expect_all_settled();
}

TEST_F(LateConditionalTest, AFencedReadIsNotHeldUpAndStaysTrue) {
  lose_change_of_a();
  EXPECT_EQ(server_->ask("GET", kPath, 34).body, kBefore);
  expect_late_write_refused();
  EXPECT_EQ(upstream_.content(kTarget), kBefore);
  expect_all_settled();
}

TEST_F(LateConditionalTest, AnotherRouteOfTheKeySealsItToo) {
  lose_change_of_a();
  EXPECT_EQ(server_->put(kOtherRoute, 34, kOfB).status, 201);
  expect_late_write_refused();
  EXPECT_EQ(upstream_.content(kTarget), kBefore);
  expect_all_settled();
}

TEST_F(LateConditionalTest, ARestartSealsWhatItFindsOnRecord) {
  lose_change_of_a();
  server_->kill_and_restart();
  EXPECT_EQ(server_->put(kPath, 34, kOfB).status, 204);
  expect_late_write_refused();
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
  expect_all_settled();
}

TEST_F(LateConditionalTest, ALateDeleteIsRefused) {
  EXPECT_EQ(server_->put(kPath, 33, kBefore).status, 201);
  relay_->park("DELETE " + kTarget);
  expect_unknown(server_->ask("DELETE", kPath, 33));
  EXPECT_EQ(server_->put(kPath, 34, kOfB).status, 204);
  EXPECT_THAT(relay_->deliver("DELETE " + kTarget), ElementsAre(StartsWith("HTTP/1.1 412")));
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
  expect_all_settled();
}

TEST_F(LateConditionalTest, ACreationIsWaitedForUntilItHasLanded) {
  lose_upload_of_a("PUT " + kTarget);
  expect_b_waits("settle: manual", false);
  EXPECT_THAT(relay_->deliver("PUT " + kTarget), ElementsAre(StartsWith("HTTP/1.1 201")));
  EXPECT_EQ(upstream_.content(kTarget), upload_of_a());
  EXPECT_EQ(server_->put(kPath, 34, kOfB).status, 204) << "what exists can be sealed";
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
  expect_all_settled();
}

class LateMoveTest : public LateWriteTest {
 protected:
  LateMoveTest() {
    serve(upstream_.port(), "commit: move, settle: manual");
    EXPECT_EQ(server_->put(kPath, 33, kBefore).status, 204) << "nginx answers every MOVE so";
  }
  ~LateMoveTest() override { server_.reset(); }
  LateMoveTest(const LateMoveTest&) = delete;
  LateMoveTest& operator=(const LateMoveTest&) = delete;

  /// The proxy can withdraw the write neither: nobody knows anything.
  void lose_move_of_a() {
    relay_->park("DELETE ", 2);  // At the end of the commit, and by the clean-up behind it.
    lose_upload_of_a("MOVE ");
    relay_->wait_for_parked("DELETE ", 2);
    EXPECT_EQ(upstream_.leftovers(), 1U) << "the temporary resource of A";
  }

  void expect_late_move_found_nothing(std::string_view content) {
    EXPECT_THAT(relay_->deliver("MOVE "), ElementsAre("HTTP/1.1 404 Not Found"));
    EXPECT_THAT(relay_->deliver("DELETE "),
                ElementsAre("HTTP/1.1 404 Not Found", "HTTP/1.1 404 Not Found"));
    EXPECT_EQ(upstream_.content("acme/report.csv"), content);
    EXPECT_EQ(upstream_.leftovers(), 0U);
    expect_all_settled();
  }

  RealUpstream upstream_{UpstreamKind::kNginx};
};

TEST_F(LateMoveTest, AWriterIsNotHeldUpAndTheLateMoveFindsNothing) {
  lose_move_of_a();
  EXPECT_EQ(server_->put(kPath, 34, kOfB).status, 204);
  expect_late_move_found_nothing(kOfB);
}

TEST_F(LateMoveTest, AFencedReadIsNotHeldUpAndStaysTrue) {
  lose_move_of_a();
  EXPECT_EQ(server_->ask("GET", kPath, 34).body, kBefore);
  expect_late_move_found_nothing(kBefore);
}

TEST_F(LateMoveTest, AnotherRouteOfTheKeyDeletesTheTemporaryToo) {
  lose_move_of_a();
  EXPECT_EQ(server_->put(kOtherRoute, 34, kOfB).status, 201);
  expect_late_move_found_nothing(kBefore);
}

TEST_F(LateMoveTest, ARestartDeletesWhatItFindsOnRecord) {
  lose_move_of_a();
  server_->kill_and_restart();
  EXPECT_EQ(upstream_.leftovers(), 1U);
  EXPECT_EQ(server_->put(kPath, 34, kOfB).status, 204);
  expect_late_move_found_nothing(kOfB);
}

TEST_F(LateMoveTest, BIsRefusedWhileNobodyCanDeleteTheTemporary) {
  relay_->park("DELETE ", 3);
  lose_upload_of_a("MOVE ");
  relay_->wait_for_parked("DELETE ", 2);
  const Response refusal = server_->put(kPath, 34, kOfB);
  expect_not_applied(refusal, 503, "draining");
  EXPECT_EQ(server_->put(kPath, 34, kOfB).status, 204);
  EXPECT_THAT(relay_->deliver("MOVE "), ElementsAre("HTTP/1.1 404 Not Found"));
  EXPECT_EQ(upstream_.content("acme/report.csv"), kOfB);
  wait_until("no temporary to be left", [&] { return upstream_.leftovers() == 0; });
}

TEST_F(LateMoveTest, AMoveThatCouldBeWithdrawnIsNotInDoubt) {
  relay_->park("MOVE ");
  const Response answer = server_->put(kPath, 33, upload_of_a());
  EXPECT_EQ(answer.status, 504);
  EXPECT_THAT(answer.body, HasSubstr("\"applied\":\"no\""));
  EXPECT_EQ(server_->metric("fenceline_unsettled_writes"), 0);
  EXPECT_EQ(server_->put(kPath, 34, kOfB).status, 204);
  EXPECT_THAT(relay_->deliver("MOVE "), ElementsAre("HTTP/1.1 404 Not Found"));
  EXPECT_EQ(upstream_.content("acme/report.csv"), kOfB);
  EXPECT_EQ(upstream_.leftovers(), 0U);
}

class LatePlainTest : public LateWriteTest {
 protected:
  ~LatePlainTest() override {
    server_.reset();
    relay_.reset();
  }
  LatePlainTest() = default;
  LatePlainTest(const LatePlainTest&) = delete;
  LatePlainTest& operator=(const LatePlainTest&) = delete;

  void lose_change_of_a(std::string_view settings) {
    serve(upstream_.port(), settings);
    EXPECT_EQ(server_->put(kPath, 33, kBefore).status, 201);
    lose_upload_of_a("PUT " + kTarget);
  }

  void late_write_lands() {
    EXPECT_THAT(relay_->deliver("PUT " + kTarget), ElementsAre(StartsWith("HTTP/1.1 204")));
    EXPECT_EQ(upstream_.content(kTarget), upload_of_a());
  }

  ConditionalUpstream upstream_;
};

TEST_F(LatePlainTest, BWaitsAcrossAKillUntilAnOperatorHasSeenItLand) {
  lose_change_of_a("commit: plain, settle: 1h");
  expect_b_waits("It counts as settled in ");
  server_->kill_and_restart();
  expect_b_waits("It counts as settled in ");
  EXPECT_EQ(server_->process().stop(), 0);
  server_->restart();
  expect_b_waits("It counts as settled in ");
  EXPECT_EQ(server_->content(kPath), kBefore) << "a read without a token takes what there is";

  late_write_lands();
  expect_b_waits("It counts as settled in ");
  settle_key();
  EXPECT_EQ(server_->put(kPath, 34, kOfB).status, 204);
  EXPECT_EQ(server_->ask("GET", kPath, 34).body, kOfB);
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
  expect_all_settled();
}

TEST_F(LatePlainTest, WhereOnlyAnOperatorCanTellBIsToldSo) {
  lose_change_of_a("commit: plain, settle: manual");
  expect_b_waits("Only an operator can tell (settle: manual)", false);
  server_->kill_and_restart();
  expect_b_waits("Only an operator can tell (settle: manual)", false);
  late_write_lands();
  settle_key();
  EXPECT_EQ(server_->ask("GET", kPath, 34).body, upload_of_a());
  EXPECT_EQ(server_->put(kPath, 34, kOfB).status, 204);
  expect_all_settled();
}

TEST_F(LatePlainTest, BSucceedsWhenTheWindowIsOver) {
  lose_change_of_a("commit: plain, settle: 2s");
  late_write_lands();  // Within the window, as the guarantee asks.
  Response answer = server_->put(kPath, 34, kOfB);
  expect_not_applied(answer, 503, "draining");
  EXPECT_THAT(answer.field("Retry-After"), ::testing::AnyOf("1", "2"));
  wait_until("B to be let in", [&] {
    answer = server_->put(kPath, 34, kOfB);
    return answer.status != 503;
  });
  EXPECT_EQ(answer.status, 204) << answer.body;
  EXPECT_EQ(upstream_.content(kTarget), kOfB);
  expect_all_settled();
  EXPECT_THAT(server_->process().log(), HasSubstr("the settle window of the older write is over"));
}

TEST_F(LatePlainTest, AHolderIsNotHeldUpByItsOwnWrites) {
  lose_change_of_a("commit: plain, settle: 1h");
  EXPECT_EQ(server_->put(kPath, 33, "again").status, 204);
  EXPECT_EQ(server_->ask("GET", kPath, 33).body, "again");
  expect_b_waits("It counts as settled in ");
}

}  // namespace
}  // namespace fenceline::testing
