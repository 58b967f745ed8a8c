// A ledger of an older format: the upgrade keeps everything, whatever call on the disk fails.

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "fencing/ledger_format.h"
#include "fencing/sqlite_ledger.h"
#include "tests/fencing/ledger_format1.h"
#include "tests/support/lease_calls.h"
#include "tests/support/ledger_calls.h"
#include "tests/support/power_loss_vfs.h"
#include "tests/support/temp_folder.h"

namespace fenceline::fencing {
namespace {

using ::fenceline::testing::find_now;
using ::fenceline::testing::grant_now;
using ::fenceline::testing::intent_of;
using ::fenceline::testing::intents_now;
using ::fenceline::testing::kFormat1Identity;
using ::fenceline::testing::lease_of;
using ::fenceline::testing::leases_now;
using ::fenceline::testing::make_format1_ledger;
using ::fenceline::testing::make_format2_ledger;
using ::fenceline::testing::make_format3_ledger;
using ::fenceline::testing::mark_of;
using ::fenceline::testing::order_to;
using ::fenceline::testing::PowerLossVfs;
using ::fenceline::testing::put_now;
using ::fenceline::testing::reset_now;
using ::fenceline::testing::resets_now;
using ::fenceline::testing::TempFolder;

struct Upgrade {
  int from = 0;
  int to = 0;
};

base::Result<std::unique_ptr<Ledger>> open_at(const std::string& path,
                                              std::vector<Upgrade>* upgrades = nullptr) {
  SqliteLedgerOptions options;
  options.path = path;
  if (upgrades != nullptr) {
    options.on_upgraded = [upgrades](const std::string&, int from, int to) {
      upgrades->push_back({from, to});
    };
  }
  return open_sqlite_ledger(std::move(options));
}

/// `user_version` of the closed file.
int format_of(const std::string& path) {
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, "PRAGMA user_version", -1, &statement, nullptr);
  const int format = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int(statement, 0) : -1;
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return format;
}

void expect_marks_of_format1(Ledger& ledger) {
  EXPECT_EQ(find_now(ledger, "a").value(), mark_of(7, "worker-1"));
  EXPECT_EQ(find_now(ledger, "b").value(), mark_of(9));
  EXPECT_EQ(ledger.identity(), kFormat1Identity);
}

TEST(LedgerUpgradeTest, AFormat1LedgerIsUpgradedOnceAndKeepsEverything) {
  const TempFolder folder;
  const std::string path = folder.at("ledger.db");
  make_format1_ledger(path);
  std::vector<Upgrade> upgrades;
  {
    const auto ledger = open_at(path, &upgrades);
    ASSERT_TRUE(ledger.has_value()) << ledger.error().detail;
    expect_marks_of_format1(**ledger);
    EXPECT_EQ(reset_now(**ledger, "a", order_to(3)).value().after, mark_of(3));
    EXPECT_TRUE(put_now(**ledger, intent_of("a", 3)));
    EXPECT_EQ(grant_now(**ledger, {lease_of("1", {"b"}), {}, {}, {}}).value(), base::Token::of(10));
  }
  ASSERT_EQ(upgrades.size(), 1U);
  EXPECT_EQ(upgrades[0].from, 1);
  EXPECT_EQ(upgrades[0].to, kLedgerFormat);
  EXPECT_EQ(format_of(path), kLedgerFormat) << "the older version refuses it by this number";
  const auto again = open_at(path, &upgrades).value();
  EXPECT_EQ(upgrades.size(), 1U);
  EXPECT_EQ(find_now(*again, "a").value(), mark_of(3));
  EXPECT_EQ(resets_now(*again, "a", 10).value().size(), 1U);
  EXPECT_EQ(intents_now(*again).value(), std::vector{intent_of("a", 3)});
}

TEST(LedgerUpgradeTest, AFormat2LedgerKeepsItsResets) {
  const TempFolder folder;
  const std::string path = folder.at("ledger.db");
  make_format2_ledger(path);
  std::vector<Upgrade> upgrades;
  const auto ledger = open_at(path, &upgrades);
  ASSERT_TRUE(ledger.has_value()) << ledger.error().detail;
  ASSERT_EQ(upgrades.size(), 1U);
  EXPECT_EQ(upgrades[0].from, 2);
  expect_marks_of_format1(**ledger);
  EXPECT_EQ(resets_now(**ledger, "a", 10).value().size(), 1U);
  EXPECT_TRUE(put_now(**ledger, intent_of("a", 7)));
  EXPECT_EQ(intents_now(**ledger).value(), std::vector{intent_of("a", 7)});
}

TEST(LedgerUpgradeTest, AFormat3LedgerKeepsItsIntentsAndTakesLeases) {
  const TempFolder folder;
  const std::string path = folder.at("ledger.db");
  make_format3_ledger(path);
  std::vector<Upgrade> upgrades;
  const auto ledger = open_at(path, &upgrades);
  ASSERT_TRUE(ledger.has_value()) << ledger.error().detail;
  ASSERT_EQ(upgrades.size(), 1U);
  EXPECT_EQ(upgrades[0].from, 3);
  expect_marks_of_format1(**ledger);
  EXPECT_EQ(intents_now(**ledger).value(), std::vector{intent_of("a", 7, "PUT /x")});
  EXPECT_TRUE(leases_now(**ledger).value().leases.empty());
  EXPECT_EQ(grant_now(**ledger, {lease_of("1", {"a", "b"}), {}, {}, {}}).value(),
            base::Token::of(10))
      << "above the marks it had";
}

TEST(LedgerUpgradeTest, ATableOfAFormatThatTheFileDoesNotHaveIsRefused) {
  const TempFolder folder;
  const std::string path = folder.at("ledger.db");
  make_format1_ledger(path);
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  sqlite3_exec(database, "PRAGMA user_version=2", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  const auto ledger = open_at(path);
  ASSERT_FALSE(ledger.has_value());
  EXPECT_NE(ledger.error().detail.find("has been altered"), std::string::npos)
      << ledger.error().detail;
}

class FailingUpgradeTest : public ::testing::TestWithParam<std::tuple<PowerLossVfs::Fault, int>> {
 protected:
  /// Opens what a power loss would leave now.
  static base::Result<std::unique_ptr<Ledger>> open_left(PowerLossVfs& vfs,
                                                         const TempFolder& folder) {
    vfs.leave_what_is_durable(folder.path(), folder.path() / "left");
    return open_at(folder.at("left/ledger.db"));
  }

  /// An upgrade in which the `nth` call fails. False if there were fewer.
  bool upgrade_survives(int nth) {
    const TempFolder folder;
    PowerLossVfs vfs;
    const auto [fault, from] = GetParam();
    (from == 1   ? make_format1_ledger
     : from == 2 ? make_format2_ledger
                 : make_format3_ledger)(folder.at("ledger.db"));
    vfs.fail(fault, nth, 1'000'000);
    if (const auto ledger = open_at(folder.at("ledger.db")); !ledger) {
      EXPECT_EQ(ledger.error().kind, base::ErrorKind::kLedgerUnavailable);
    }
    const bool struck = vfs.struck();
    vfs.heal();
    {
      const auto left = open_left(vfs, folder);
      EXPECT_TRUE(left.has_value()) << left.error().detail;
      expect_marks_of_format1(**left);
    }
    const auto again = open_at(folder.at("ledger.db"));
    EXPECT_TRUE(again.has_value()) << again.error().detail;
    expect_marks_of_format1(**again);
    return struck;
  }
};

TEST_P(FailingUpgradeTest, LeavesALedgerWithAllItsMarks) {
  int nth = 1;
  while (upgrade_survives(nth)) {
    ASSERT_FALSE(HasFailure()) << "call " << nth;
    ++nth;
  }
  EXPECT_GT(nth, 2);
}

INSTANTIATE_TEST_SUITE_P(Every, FailingUpgradeTest,
                         ::testing::Combine(::testing::Values(PowerLossVfs::Fault::kDiskFull,
                                                              PowerLossVfs::Fault::kIoError,
                                                              PowerLossVfs::Fault::kSyncFails),
                                            ::testing::Values(1, 2, 3)),
                         [](const auto& of) {
                           const std::string format =
                               "FromFormat" + std::to_string(std::get<1>(of.param));
                           switch (std::get<0>(of.param)) {
                             case PowerLossVfs::Fault::kDiskFull:
                               return "DiskFull" + format;
                             case PowerLossVfs::Fault::kIoError:
                               return "IoError" + format;
                             default:
                               return "SyncFails" + format;
                           }
                         });

}  // namespace
}  // namespace fenceline::fencing
