// kill -9 in a loop under concurrent clients with takeovers.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/campaign/campaign.h"
#include "tests/support/history.h"
#include "tests/system/files_server.h"
#include "tests/system/recorded_clients.h"

namespace fenceline::testing {
namespace {

using ::testing::IsEmpty;
using Outcome = Operation::Outcome;

constexpr std::size_t kClients = 8;
constexpr std::size_t kMostRequestsPerCycle = 600;
constexpr std::size_t kCyclesPerJudgement = 20;

class Kill9Test : public ::testing::TestWithParam<const char*> {};

TEST_P(Kill9Test, NoKillBreaksThePromise) {
  const std::uint64_t seed = campaign_seed();
  SCOPED_TRACE(replay("kill9", seed));
  std::mt19937_64 random(seed);
  const std::size_t cycles = campaign_count(20, 1000);
  FilesServer server(FilesServer::two_routes(GetParam()));
  RecordedClients clients(server.process().port(), kClients, seed);
  Broken broken;

  for (std::size_t cycle = 1; cycle <= cycles; ++cycle) {
    ASSERT_TRUE(wait_for_answers(clients, 1 + random() % kMostRequestsPerCycle))
        << server.process().log();
    server.kill_and_restart();
    ASSERT_EQ(server.temporary_files(), 0U) << "what was staged was not swept";
    clients.server_restarted(server.process().port());
    if (cycle % kCyclesPerJudgement == 0 || cycle == cycles) {
      clients.hold();
      clients.wait_until_held();
      server.kill_and_restart();
      clients.server_restarted(server.process().port());
      expect_marks_kept(server, clients, broken);
      const std::vector<std::string> violations = clients.judge(server.process().port());
      broken.add(violations);
      ASSERT_TRUE(expect_allowed(clients, violations)) << "in the 20 cycles up to " << cycle;
      clients.go_on();
    }
  }
  clients.stop();
  EXPECT_THAT(clients.problems(), IsEmpty());

  // The kills met requests, and all kinds of them had been at work.
  EXPECT_GE(clients.writes(Outcome::kUnknown), 1U);
  EXPECT_GE(clients.writes(Outcome::kFenced), 1U);
  EXPECT_GE(clients.writes(Outcome::kDone), 1U);
  print_summary("kill9",
                fmt::format("sync {}, {} cycles, {} operations, {} acknowledged writes, {} met by "
                            "a kill",
                            GetParam(), cycles, clients.operations(),
                            clients.writes(Outcome::kDone), clients.writes(Outcome::kUnknown)),
                broken, seed);
}

// The clients and their judge are worth nothing if they cannot tell.
TEST(UnfencedTest, TheJudgeNoticesAServerThatDoesNotFence) {
  FilesServer server(R"(
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
ledger: {sqlite: ledger.db}
routes:
  - name: exports
    match: /exports/{tenant}/{path...}
    fence: exports/{tenant}
    enforce: false
    files: {root: exports, sync: none}
)");
  RecordedClients clients(server.process().port(), kClients, 1);
  wait_until("the clients to get answers",
             [&] { return clients.answered() >= 500 || !clients.problems().empty(); });
  clients.stop();
  clients.read_everything(server.process().port());
  EXPECT_THAT(clients.problems(), IsEmpty());
  const std::vector<std::string> violations = violations_of(clients.history());
  EXPECT_THAT(violations, ::testing::Contains(::testing::HasSubstr("was accepted, although")));
  EXPECT_THAT(violations, ::testing::Contains(::testing::HasSubstr("a stale one happened")));
}

INSTANTIATE_TEST_SUITE_P(Sync, Kill9Test, ::testing::Values("full", "none"),
                         [](const auto& variant) { return std::string(variant.param); });

}  // namespace
}  // namespace fenceline::testing
