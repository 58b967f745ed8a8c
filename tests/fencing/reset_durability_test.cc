// A reset that was answered is there after a power loss, and a mark is never lower without the row
// of the audit that says why, whatever call on the disk fails.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fencing/sqlite_ledger.h"
#include "tests/fencing/power_loss_vfs.h"
#include "tests/support/ledger_calls.h"
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

/// The ledger in `path` holds one of the `possible` marks, with one row for each step down to it.
void expect_mark_with_its_audit(const std::string& path, const Tokens& possible) {
  const auto ledger = open_at(path);
  const Mark mark = find_now(*ledger, kKey).value();
  EXPECT_THAT(possible, ::testing::Contains(mark.token.value()));
  base::Token explained = base::Token::of(kFirstMark);
  std::vector<ResetRecord> rows = resets_now(*ledger, kKey, 100).value();
  for (; !rows.empty(); rows.pop_back()) {
    EXPECT_EQ(rows.back().before.token, explained);
    explained = rows.back().to;
  }
  EXPECT_EQ(mark.token, explained) << "the audit does not say how the mark came to be";
}

/// What a power loss would leave now.
void expect_durable(PowerLossVfs& vfs, const TempFolder& folder, const Tokens& possible) {
  vfs.leave_what_is_durable(folder.path(), folder.path() / "left");
  expect_mark_with_its_audit(folder.at("left/ledger.db"), possible);
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

class FailingResetTest : public ::testing::TestWithParam<PowerLossVfs::Fault> {
 protected:
  /// A few resets, during which the `nth` call fails. False if there were fewer.
  static bool survives(int nth) {
    const TempFolder folder;
    PowerLossVfs vfs;
    auto ledger = open_at(folder.at("ledger.db"));
    raise_now(*ledger, kKey, mark_of(kFirstMark)).value();
    vfs.fail(GetParam(), nth, 1);
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
    expect_durable(vfs, folder, possible);
    ledger.reset();
    expect_mark_with_its_audit(folder.at("ledger.db"), possible);
    return struck;
  }
};

TEST_P(FailingResetTest, TheMarkAndItsAuditChangeTogetherOrNotAtAll) {
  int nth = 1;
  while (survives(nth)) {
    ASSERT_FALSE(HasFailure()) << "call " << nth << " failed";
    ++nth;
  }
  EXPECT_GT(nth, 3) << "every reset made at least one such call";
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
