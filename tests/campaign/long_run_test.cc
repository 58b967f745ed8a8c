// Many clients on many keys for a long time, judged in parts so that memory stays bounded.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/campaign/campaign.h"
#include "tests/system/files_server.h"
#include "tests/system/recorded_clients.h"

namespace fenceline::testing {
namespace {

using ::testing::IsEmpty;
using Outcome = Operation::Outcome;

constexpr std::size_t kClients = 32;
constexpr std::size_t kPart = 5'000;
// Small contents: this is about many operations, and the other campaigns have the large ones.
constexpr Load kLoad = {.tenants = 64, .files = 3, .most_bytes = 4096};

TEST(LongRunTest, EveryPartIsAllowed) {
  const std::uint64_t seed = campaign_seed();
  SCOPED_TRACE(replay("long_run", seed));
  const std::size_t wanted = campaign_count(10'000, 1'000'000);
  FilesServer server;
  RecordedClients clients(server.process().port(), kClients, seed, kLoad);
  Broken broken;
  while (clients.operations() < wanted) {
    const std::size_t part = std::min(kPart, wanted - clients.operations());
    ASSERT_TRUE(wait_for_answers(clients, part)) << server.process().log();
    clients.hold();
    clients.wait_until_held();
    ASSERT_THAT(clients.problems(), IsEmpty());
    expect_marks_kept(server, clients, broken);
    const std::vector<std::string> violations = clients.judge(server.process().port());
    broken.add(violations);
    ASSERT_TRUE(expect_allowed(clients, violations)) << "up to operation " << clients.operations();
    clients.go_on();
  }
  clients.stop();
  EXPECT_THAT(clients.problems(), IsEmpty());
  EXPECT_EQ(clients.writes(Outcome::kUnknown), 0U);
  EXPECT_GE(clients.writes(Outcome::kFenced), 1U);
  print_summary(
      "long_run",
      fmt::format("{} operations of {} clients on {} keys, {} acknowledged writes",
                  clients.operations(), kClients, kLoad.tenants, clients.writes(Outcome::kDone)),
      broken, seed);
}

}  // namespace
}  // namespace fenceline::testing
