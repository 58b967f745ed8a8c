// The power of a real ext4's disk is cut at random moments under concurrent clients.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <exception>
#include <random>
#include <string>
#include <vector>

#include "tests/campaign/campaign.h"
#include "tests/campaign/power_disk.h"
#include "tests/support/temp_folder.h"
#include "tests/system/files_server.h"
#include "tests/system/recorded_clients.h"

namespace fenceline::testing {
namespace {

using ::testing::IsEmpty;
using Outcome = Operation::Outcome;

constexpr std::size_t kClients = 8;
constexpr std::size_t kMostOperations = 3000;  // Of the disk, between two cuts.
constexpr std::size_t kMostAtStart = 40;

std::string config_on(const PowerDisk& disk) {
  return fmt::format(R"(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: {}}}
routes:
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    files: {{root: {}, sync: full}}
)",
                     disk.at("ledger.db"), disk.at("exports"));
}

class PowerCutTest : public ::testing::Test {
 protected:
  /// Brings disk and server back. Sometimes the power goes again while the server starts.
  void power_on() {
    do {
      server_.kill();
      cuts_ += disk_.power_cycle().empty() ? 0 : 1;
    } while (!start());
  }

  bool start() {
    if (random_() % 4 == 0) {
      disk_.cut_after(random_() % kMostAtStart);
    }
    try {
      server_.restart();
    } catch (const std::exception&) {
      if (!disk_.is_cut()) {
        throw;
      }
    }
    const bool started = disk_.keep_power();
    cuts_at_start_ += started ? 0 : 1;
    return started;
  }

  const std::uint64_t seed_ = campaign_seed();
  std::mt19937_64 random_{seed_};
  TempFolder folder_;
  PowerDisk disk_{folder_.path().string(), seed_};
  FilesServer server_{config_on(disk_)};
  std::size_t cuts_ = 0;
  std::size_t cuts_at_start_ = 0;
};

TEST_F(PowerCutTest, NoCutBreaksThePromise) {
  SCOPED_TRACE(replay("power_cut", seed_));
  const std::size_t wanted = campaign_count(5, 200);
  RecordedClients clients(server_.process().port(), kClients, seed_,
                          {.trouble = Trouble::kStorageMayFail});
  Broken broken;
  while (cuts_ < wanted) {
    disk_.cut_after(random_() % kMostOperations);
    wait_until("the power to go", [&] { return disk_.is_cut() || !clients.problems().empty(); });
    ASSERT_THAT(clients.problems(), IsEmpty()) << server_.process().log();
    clients.hold();
    power_on();
    clients.server_restarted(server_.process().port());
    clients.wait_until_held();
    expect_marks_kept(server_, clients, broken);
    const std::vector<std::string> violations =
        clients.judge(server_.process().port(), RecordedClients::Loss::kPowerCut);
    broken.add(violations);
    ASSERT_TRUE(expect_allowed(clients, violations)) << "after cut " << cuts_;
    EXPECT_EQ(server_.temporary_files(disk_.at("exports")), 0U);
    clients.go_on();
  }
  clients.stop();
  EXPECT_THAT(clients.problems(), IsEmpty());
  EXPECT_GE(clients.writes(Outcome::kDone), wanted);
  EXPECT_GE(clients.writes(Outcome::kUnknown), 1U);
  print_summary(
      "power_cut",
      fmt::format("{} cuts, {} of them at a start, {} operations, {} acknowledged writes", cuts_,
                  cuts_at_start_, clients.operations(), clients.writes(Outcome::kDone)),
      broken, seed_);
}

}  // namespace
}  // namespace fenceline::testing
