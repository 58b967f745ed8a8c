// The wall clock of the proxy jumps by an hour, there and back, under load.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "base/http_date.h"
#include "tests/campaign/campaign.h"
#include "tests/campaign/preload.h"
#include "tests/support/temp_folder.h"
#include "tests/system/files_server.h"
#include "tests/system/recorded_clients.h"

namespace fenceline::testing {
namespace {

using ::testing::IsEmpty;
using Outcome = Operation::Outcome;

constexpr std::size_t kClients = 8;
constexpr std::size_t kMostRequestsPerJump = 300;
constexpr std::int64_t kHour = 3600;

/// How far the `Date` of the server's answers is from the real time.
std::int64_t shown_offset(FilesServer& server) {
  const std::string date = server.admin("/healthz").field("Date");
  const auto shown = base::parse_http_date(date);
  if (!shown) {
    throw std::runtime_error("not a date: " + date);
  }
  return *shown - std::time(nullptr);
}

TEST(ClockTest, NoJumpBreaksThePromise) {
  const std::uint64_t seed = campaign_seed();
  SCOPED_TRACE(replay("clock", seed));
  std::mt19937_64 random(seed);
  const std::size_t jumps = campaign_count(12, 500);
  const TempFolder folder;
  WallClock clock(folder.at("clock"));
  FilesServer server(FilesServer::two_routes(), clock.environment());
  RecordedClients clients(server.process().port(), kClients, seed);
  Broken broken;
  std::int64_t offset = 0;
  for (std::size_t jump = 0; jump < jumps; ++jump) {
    // Never the same again: back, or to the other side.
    offset = (offset / kHour + 2 + static_cast<std::int64_t>(random() % 2)) % 3 * kHour - kHour;
    clock.jump_to(std::chrono::seconds(offset));
    wait_until("the server to show the jump",
               [&] { return std::abs(shown_offset(server) - offset) < kHour / 2; });
    ASSERT_TRUE(wait_for_answers(clients, 1 + random() % kMostRequestsPerJump))
        << server.process().log();
  }
  clients.hold();
  clients.wait_until_held();
  expect_marks_kept(server, clients, broken);
  const std::vector<std::string> violations = clients.judge(server.process().port());
  broken.add(violations);
  expect_allowed(clients, violations);
  clients.stop();
  EXPECT_THAT(clients.problems(), IsEmpty());
  EXPECT_EQ(clients.writes(Outcome::kUnknown), 0U) << "no connection was cut";
  print_summary("clock",
                fmt::format("{} jumps by 1 h or 2 h, {} operations, {} acknowledged writes", jumps,
                            clients.operations(), clients.writes(Outcome::kDone)),
                broken, seed);
}

}  // namespace
}  // namespace fenceline::testing
