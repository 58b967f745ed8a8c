// Two proxies, one upstream, commit by MOVE: the proxy itself is the zombie. Proxy A is stopped
// after its last check of the fence, with the MOVE about to be sent; proxy B takes over and A wakes
// up.
//
// What they share: the upstream, and what was in A's ledger at the moment of the failover, as a
// copy of its files (the database and its log, as replicated storage would have them). What they do
// not share: the ledger from then on. So this shows that a write which A had on record when it was
// replaced takes no effect afterwards (model d6). It does not show that A may go on serving: what A
// puts on record only after the copy was taken, B cannot know. There the storage must refuse A, as
// a failover does that fences the old node, or the ledger must be a shared one.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/child_process.h"
#include "tests/support/real_upstreams.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kPath = "/exports/acme/report.csv";
constexpr std::string_view kName = "acme/report.csv";
constexpr std::string_view kKey = "exports/acme";
constexpr std::string_view kBefore = "before";
constexpr std::string_view kOfB = "the report of worker B";

class TwoProxiesTest : public ::testing::Test {
 protected:
  TwoProxiesTest() : a_(config(), FilesServer::Stopped{}), b_(config(), FilesServer::Stopped{}) {
    const char* asan = std::getenv("ASAN_OPTIONS");
    a_.set_environment(
        {fmt::format("LD_PRELOAD={}", FENCELINE_STOP_BEFORE_SEND), "FENCELINE_STOP_AT=MOVE ",
         "FENCELINE_STOP_WHEN=" + a_.at("stop"),
         fmt::format("ASAN_OPTIONS={}:verify_asan_link_order=0", asan == nullptr ? "" : asan)});
    a_.restart();
    EXPECT_EQ(a_.put(kPath, 33, kBefore).status / 100, 2);
  }

  [[nodiscard]] std::string config() const {
    return fmt::format(R"(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: ledger.db}}
routes:
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    http: {{upstream: "http://127.0.0.1:{}", commit: move, settle: manual}}
)",
                       upstream_.port());
  }

  /// The worker behind `client` has sent everything; A has checked its fence for the last time.
  void stop_a_at_its_commit(RawClient& client) {
    std::ofstream(a_.at("stop")) << "at the next MOVE";
    client.send(fenced_put(kPath, 33, std::string(200'000, 'A')));
    wait_until_stopped(a_.process().pid());
    EXPECT_FALSE(std::filesystem::exists(a_.at("stop")));
    EXPECT_EQ(upstream_.leftovers(), 1U) << "A has staged";
    EXPECT_EQ(upstream_.content(std::string(kName)), kBefore) << "A has not committed";
  }

  void start_b_with_the_ledger_of_a() {
    for (const char* file : {"ledger.db", "ledger.db-wal"}) {
      std::filesystem::copy_file(a_.at(file), b_.at(file));
    }
    b_.restart();
    EXPECT_EQ(b_.mark(kKey), 33);
    EXPECT_THAT(b_.admin("/v1/unsettled").body, HasSubstr(R"("key":"exports/acme","token":"33")"));
  }

  void expect_a_comes_too_late(RawClient& client, std::string_view content) {
    EXPECT_EQ(upstream_.leftovers(), 0U) << "B has deleted what A had staged";
    a_.process().signal(SIGCONT);
    const Response answer = client.receive();
    expect_not_applied(answer, 412, "stale-token");
    EXPECT_THAT(answer.body, HasSubstr("a holder of a newer token has withdrawn this write"));
    EXPECT_EQ(upstream_.content(std::string(kName)), content);
    EXPECT_EQ(upstream_.leftovers(), 0U);
    EXPECT_EQ(b_.admin("/v1/unsettled").body, "{\"unsettled\":[]}\n");
    EXPECT_EQ(a_.metric("fenceline_unsettled_writes"), 0);
    expect_fenced(b_.put(kPath, 33, "A again, at B"), 33, 34);
    EXPECT_EQ(a_.process().stop(), 0);
    EXPECT_EQ(b_.content(kPath), content);
  }

  RealUpstream upstream_{UpstreamKind::kNginx};
  FilesServer a_;
  FilesServer b_;
};

TEST_F(TwoProxiesTest, AStoppedProxyDoesNotOvertakeANewerWriter) {
  RawClient client(a_.process().port());
  stop_a_at_its_commit(client);
  start_b_with_the_ledger_of_a();
  const Response of_b = b_.put(kPath, 34, kOfB);
  EXPECT_EQ(of_b.status / 100, 2) << of_b.body;
  EXPECT_EQ(upstream_.content(std::string(kName)), kOfB);
  expect_a_comes_too_late(client, kOfB);
}

TEST_F(TwoProxiesTest, AStoppedProxyDoesNotChangeWhatANewerHolderHasRead) {
  RawClient client(a_.process().port());
  stop_a_at_its_commit(client);
  start_b_with_the_ledger_of_a();
  EXPECT_EQ(b_.ask("GET", kPath, 34).body, kBefore);
  expect_a_comes_too_late(client, kBefore);
}

/// So the stop is where it matters: without a newer holder the same write does take effect.
TEST_F(TwoProxiesTest, WithoutANewerHolderItGoesOnWhereItWas) {
  RawClient client(a_.process().port());
  stop_a_at_its_commit(client);
  start_b_with_the_ledger_of_a();
  a_.process().signal(SIGCONT);
  EXPECT_EQ(client.receive().status / 100, 2);
  EXPECT_EQ(upstream_.content(std::string(kName)), std::string(200'000, 'A'));
  EXPECT_EQ(b_.ask("GET", kPath, 34).body, std::string(200'000, 'A'));
  EXPECT_EQ(b_.put(kPath, 34, kOfB).status / 100, 2);
  EXPECT_EQ(upstream_.content(std::string(kName)), kOfB);
}

}  // namespace
}  // namespace fenceline::testing
