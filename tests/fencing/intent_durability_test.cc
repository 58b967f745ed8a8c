// An intent that was acknowledged is on record after kill -9 and after a power loss, and a put and
// the drops with it happen together or not at all, whatever call on the disk fails.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fencing/sqlite_ledger.h"
#include "tests/fencing/child_process.h"
#include "tests/support/ledger_calls.h"
#include "tests/support/power_loss_vfs.h"
#include "tests/support/temp_folder.h"

namespace fenceline::fencing {
namespace {

using ::fenceline::testing::ChildProcess;
using ::fenceline::testing::drop_now;
using ::fenceline::testing::intent_of;
using ::fenceline::testing::intents_now;
using ::fenceline::testing::PowerLossVfs;
using ::fenceline::testing::put_now;
using ::fenceline::testing::TempFolder;
using Intents = std::vector<Intent>;

std::unique_ptr<Ledger> open_at(const std::string& path) {
  SqliteLedgerOptions options;
  options.path = path;
  return open_sqlite_ledger(std::move(options)).value();
}

/// What a power loss would leave now.
Intents durable(PowerLossVfs& vfs, const TempFolder& folder) {
  vfs.leave_what_is_durable(folder.path(), folder.path() / "left");
  const auto left = open_at(folder.at("left/ledger.db"));
  return intents_now(*left).value();
}

TEST(IntentDurabilityTest, EveryAnswerIsDurableBeforeItIsGiven) {
  const TempFolder folder;
  PowerLossVfs vfs;
  const auto ledger = open_at(folder.at("ledger.db"));
  EXPECT_TRUE(put_now(*ledger, intent_of("a", 7)));
  EXPECT_EQ(durable(vfs, folder), Intents{intent_of("a", 7)});
  EXPECT_TRUE(put_now(*ledger, intent_of("a", 8), {intent_of("a", 7)}));
  EXPECT_EQ(durable(vfs, folder), Intents{intent_of("a", 8)});
  EXPECT_TRUE(drop_now(*ledger, {intent_of("a", 8)}));
  EXPECT_EQ(durable(vfs, folder), Intents{});
}

TEST(IntentDurabilityTest, AFailedSyncIsRefusedUntilRestart) {
  const TempFolder folder;
  PowerLossVfs vfs;
  const auto ledger = open_at(folder.at("ledger.db"));
  vfs.fail(PowerLossVfs::Fault::kSyncFails, 1, 1);
  EXPECT_FALSE(put_now(*ledger, intent_of("a", 7)));
  EXPECT_FALSE(put_now(*ledger, intent_of("a", 8)));
  EXPECT_FALSE(intents_now(*ledger).has_value()) << "in doubt, and answers";
}

/// Puts one token after the other on record, each with the drop of the one before it, and reports
/// it when it is.
int put_for_ever(const std::string& path, std::int64_t first, const ChildProcess::Parent& parent) {
  const auto ledger = open_at(path);
  for (std::int64_t token = first;; ++token) {
    if (put_now(*ledger, intent_of("a", token), {intent_of("a", token - 1)})) {
      parent.report(token);
    }
  }
}

TEST(IntentDurabilityTest, NothingAcknowledgedIsLostByKillMinus9) {
  const TempFolder folder;
  const std::string path = folder.at("ledger.db");
  std::int64_t last = 0;
  for (int round = 0; round < 10; ++round) {
    ChildProcess child(
        [&](const ChildProcess::Parent& parent) { return put_for_ever(path, last + 1, parent); });
    for (int i = 0; i < 7 + round * 3; ++i) {
      last = child.next_report();
      ASSERT_GT(last, 0) << "the child ended by itself";
    }
    child.kill_now();
    for (const std::int64_t token : child.remaining_reports()) {
      last = token;
    }
    const auto found = intents_now(*open_at(path)).value();
    ASSERT_EQ(found.size(), 1U) << "the put without its drop, or the drop without its put";
    // The one that was under way may be there too: whole.
    EXPECT_GE(found[0].token.value(), last);
    EXPECT_LE(found[0].token.value(), last + 1);
    last = found[0].token.value();
  }
}

class FailingIntentTest : public ::testing::TestWithParam<PowerLossVfs::Fault> {
 protected:
  /// A few puts, during which the `nth` call fails. False if there were fewer.
  static bool survives(int nth) {
    const TempFolder folder;
    PowerLossVfs vfs;
    auto ledger = open_at(folder.at("ledger.db"));
    EXPECT_TRUE(put_now(*ledger, intent_of("a", 1)));
    vfs.fail(GetParam(), nth, 1);
    std::int64_t acknowledged = 1;
    std::vector<std::int64_t> possible{1};
    for (const std::int64_t token : {2, 3, 4}) {
      if (put_now(*ledger, intent_of("a", token), {intent_of("a", acknowledged)})) {
        acknowledged = token;
        possible = {token};
      } else {
        possible.push_back(token);
      }
    }
    const bool struck = vfs.struck();
    vfs.heal();
    expect_one_of(durable(vfs, folder), possible);
    ledger.reset();
    ledger = open_at(folder.at("ledger.db"));
    expect_one_of(intents_now(*ledger).value(), possible);
    return struck;
  }

  static void expect_one_of(const Intents& found, const std::vector<std::int64_t>& possible) {
    ASSERT_EQ(found.size(), 1U) << "the put without its drop, or the drop without its put";
    EXPECT_THAT(possible, ::testing::Contains(found[0].token.value()));
  }
};

TEST_P(FailingIntentTest, APutAndItsDropHappenTogetherOrNotAtAll) {
  int nth = 1;
  while (survives(nth)) {
    ASSERT_FALSE(HasFailure()) << "call " << nth;
    ++nth;
  }
  EXPECT_GT(nth, 3) << "every put made at least one such call";
}

INSTANTIATE_TEST_SUITE_P(Every, FailingIntentTest,
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
