// kill -9 in a loop under concurrent clients; their history is judged at the end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/support/history.h"
#include "tests/system/files_server.h"
#include "tests/system/recorded_clients.h"

namespace fenceline::testing {
namespace {

using ::testing::IsEmpty;
using Kind = Operation::Kind;
using Outcome = Operation::Outcome;

constexpr std::size_t kClients = 8;
constexpr std::size_t kMostRequestsPerCycle = 600;

int cycles() {
  const char* wanted = std::getenv("FENCELINE_KILL_CYCLES");
  const int number = wanted == nullptr ? 20 : std::atoi(wanted);
  if (number < 1) {
    throw std::runtime_error("FENCELINE_KILL_CYCLES must be a number from 1");
  }
  return number;
}

class Kill9Test : public ::testing::TestWithParam<const char*> {};

TEST_P(Kill9Test, NoKillBreaksThePromise) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  FilesServer server(FilesServer::two_routes(GetParam()));
  RecordedClients clients(server.process().port(), kClients, seed);

  for (int cycle = 0; cycle < cycles(); ++cycle) {
    const std::size_t target = clients.answered() + 1 + random() % kMostRequestsPerCycle;
    wait_until("the clients to get answers",
               [&] { return clients.answered() >= target || !clients.problems().empty(); });
    ASSERT_THAT(clients.problems(), IsEmpty()) << server.process().log();
    server.kill_and_restart();
    ASSERT_EQ(server.temporary_files(), 0U) << "what was staged was not swept";
    clients.server_restarted(server.process().port());
  }
  clients.stop();
  server.kill_and_restart();
  clients.read_everything(server.process().port());

  EXPECT_THAT(clients.problems(), IsEmpty());
  EXPECT_THAT(violations_of(clients.history()), IsEmpty());
  server.kill_and_restart();
  for (std::size_t tenant = 0; tenant < RecordedClients::kTenants; ++tenant) {
    const std::string key = RecordedClients::key_of(tenant);
    EXPECT_GE(server.mark(key), clients.highest_accepted(key)) << key;
  }

  // The kills met requests, and all kinds of them had been at work.
  const auto writes = [&](Outcome outcome) {
    return clients.count(
        [&](const auto& each) { return each.kind == Kind::kWrite && each.outcome == outcome; });
  };
  EXPECT_GE(writes(Outcome::kUnknown), 1U);
  EXPECT_GE(writes(Outcome::kFenced), 1U);
  EXPECT_GE(writes(Outcome::kDone), 1U);
  RecordProperty("operations", std::to_string(clients.history().size()));
  RecordProperty("unknown_writes", std::to_string(writes(Outcome::kUnknown)));
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
