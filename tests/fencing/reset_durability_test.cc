// A reset that was answered is there after a power loss, a mark is never lower without the row of
// the audit that says why, and a disk that fails or a file that is gone is told as what it is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fencing/sqlite_ledger.h"
#include "tests/support/ledger_calls.h"
#include "tests/support/power_loss_vfs.h"
#include "tests/support/temp_folder.h"

namespace fenceline::fencing {
namespace {

using ::fenceline::testing::find_now;
using ::fenceline::testing::mark_of;
using ::fenceline::testing::order_to;
using ::fenceline::testing::PowerLossVfs;
using ::fenceline::testing::raise_now;
using ::fenceline::testing::reset_now;
using ::fenceline::testing::resets_now;
using ::fenceline::testing::TempFolder;
using Tokens = std::vector<std::int64_t>;

constexpr const char* kKey = "exports/acme";
constexpr std::int64_t kFirstMark = 100;

std::unique_ptr<Ledger> open_at(const std::string& path) {
  SqliteLedgerOptions options;
  options.path = path;
  return open_sqlite_ledger(std::move(options)).value();
}

/// The ledger holds one of the `possible` marks, with one row for each step down to it.
void expect_mark_with_its_audit(Ledger& ledger, const Tokens& possible) {
  const Mark mark = find_now(ledger, kKey).value();
  EXPECT_THAT(possible, ::testing::Contains(mark.token.value()));
  base::Token explained = base::Token::of(kFirstMark);
  std::vector<ResetRecord> rows = resets_now(ledger, kKey, 100).value();
  for (; !rows.empty(); rows.pop_back()) {
    EXPECT_EQ(rows.back().before.token, explained);
    explained = rows.back().to;
  }
  EXPECT_EQ(mark.token, explained) << "the audit does not say how the mark came to be";
}

/// What a power loss would leave now.
void expect_durable(PowerLossVfs& vfs, const TempFolder& folder, const Tokens& possible) {
  vfs.leave_what_is_durable(folder.path(), folder.path() / "left");
  const auto left = open_at(folder.at("left/ledger.db"));
  expect_mark_with_its_audit(*left, possible);
}

TEST(ResetDurabilityTest, EveryAnswerIsDurableBeforeItIsGiven) {
  const TempFolder folder;
  PowerLossVfs vfs;
  const auto ledger = open_at(folder.at("ledger.db"));
  raise_now(*ledger, kKey, mark_of(kFirstMark)).value();
  for (const std::int64_t to : {90, 80, 70}) {
    reset_now(*ledger, kKey, order_to(to)).value();
    expect_durable(vfs, folder, {to});
  }
}

TEST(ResetDurabilityTest, AfterAFailedSyncItIsRefusedUntilRestart) {
  const TempFolder folder;
  PowerLossVfs vfs;
  const auto ledger = open_at(folder.at("ledger.db"));
  raise_now(*ledger, kKey, mark_of(kFirstMark)).value();
  vfs.fail(PowerLossVfs::Fault::kSyncFails, 1, 1);
  EXPECT_EQ(reset_now(*ledger, kKey, order_to(90)).error().applied, base::Applied::kUnknown);
  // The disk is well again, but nobody knows what it holds.
  EXPECT_FALSE(reset_now(*ledger, kKey, order_to(80)).has_value());
  EXPECT_FALSE(raise_now(*ledger, kKey, mark_of(101)).has_value());
  EXPECT_FALSE(resets_now(*ledger, kKey, 10).has_value());
}

TEST(ResetDurabilityTest, AfterAFullDiskTheNextOneIsCarriedOut) {
  const TempFolder folder;
  PowerLossVfs vfs;
  const auto ledger = open_at(folder.at("ledger.db"));
  raise_now(*ledger, kKey, mark_of(kFirstMark)).value();
  vfs.fail(PowerLossVfs::Fault::kDiskFull, 1, 1);
  EXPECT_EQ(reset_now(*ledger, kKey, order_to(90)).error().applied, base::Applied::kNo);
  EXPECT_EQ(reset_now(*ledger, kKey, order_to(80)).value().before, mark_of(kFirstMark));
  expect_durable(vfs, folder, {80});
}

TEST(ResetDurabilityTest, AFileThatWasDeletedTakesNone) {
  const TempFolder folder;
  const auto ledger = open_at(folder.at("ledger.db"));
  raise_now(*ledger, kKey, mark_of(kFirstMark)).value();
  std::filesystem::remove(folder.at("ledger.db"));
  EXPECT_FALSE(reset_now(*ledger, kKey, order_to(90)).has_value());
  EXPECT_FALSE(find_now(*ledger, kKey).has_value()) << "it refuses everything until restart";
}

class FailingResetTest : public ::testing::TestWithParam<PowerLossVfs::Fault> {
 protected:
  /// A few resets, during which the `nth` call fails. False if there were fewer.
  static bool survives(int nth, int times) {
    const TempFolder folder;
    PowerLossVfs vfs;
    auto ledger = open_at(folder.at("ledger.db"));
    raise_now(*ledger, kKey, mark_of(kFirstMark)).value();
    vfs.fail(GetParam(), nth, times);
    Tokens possible{kFirstMark};
    for (const std::int64_t to : {90, 80, 70}) {
      const auto outcome = reset_now(*ledger, kKey, order_to(to));
      if (outcome) {
        possible = {to};
      } else if (outcome.error().applied != base::Applied::kNo) {
        possible.push_back(to);
      }
    }
    const bool struck = vfs.struck();
    vfs.heal();
    if (possible.size() == 1) {
      expect_mark_with_its_audit(*ledger, possible);
    } else {
      EXPECT_FALSE(find_now(*ledger, kKey).has_value()) << "in doubt, and answers";
    }
    expect_durable(vfs, folder, possible);
    ledger.reset();
    ledger = open_at(folder.at("ledger.db"));
    expect_mark_with_its_audit(*ledger, possible);
    return struck;
  }
};

TEST_P(FailingResetTest, TheMarkAndItsAuditChangeTogetherOrNotAtAll) {
  for (const int times : {1, 1'000'000}) {
    int nth = 1;
    while (survives(nth, times)) {
      ASSERT_FALSE(HasFailure()) << "call " << nth << " failed " << times << " times";
      ++nth;
    }
    EXPECT_GT(nth, 3) << "every reset made at least one such call";
  }
}

INSTANTIATE_TEST_SUITE_P(Every, FailingResetTest,
                         ::testing::Values(PowerLossVfs::Fault::kDiskFull,
                                           PowerLossVfs::Fault::kIoError,
                                           PowerLossVfs::Fault::kSyncFails),
                         [](const auto& fault) {
                           switch (fault.param) {
                             case PowerLossVfs::Fault::kDiskFull:
                               return "DiskFull";
                             case PowerLossVfs::Fault::kIoError:
                               return "IoError";
                             default:
                               return "SyncFails";
                           }
                         });

}  // namespace
}  // namespace fenceline::fencing
