// Answers for idempotency keys in the ledger: claimed, kept and forgotten, durably.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "fencing/sqlite_ledger.h"
#include "tests/support/ledger_calls.h"
#include "tests/support/power_loss_vfs.h"
#include "tests/support/temp_folder.h"

namespace fenceline::fencing {
namespace {

using ::fenceline::testing::Arrivals;
using ::fenceline::testing::PowerLossVfs;
using ::fenceline::testing::raise_now;
using ::fenceline::testing::TempFolder;
using Recalled = base::Result<std::optional<base::KeptRow>>;

class KeptAnswersTest : public ::testing::Test {
 protected:
  void SetUp() override { open(); }

  void open() {
    ledger_.reset();
    SqliteLedgerOptions options;
    options.path = folder_.at("ledger.db");
    ledger_ = open_sqlite_ledger(std::move(options)).value();
  }

  static base::Once once(std::string key, std::string print = "print") {
    return {.key = std::move(key), .print = std::move(print), .ttl = base::Milliseconds(60'000)};
  }

  Recalled recall(const std::string& key, const std::string& request = "r") {
    Arrivals<Recalled> arrived;
    ledger_->answers()->recall(once(key), request, "before",
                               [&](Recalled row) { arrived.add(std::move(row)); });
    return arrived.wait_for(1).front();
  }

  base::Result<void> keep(const std::string& key, int status) {
    Arrivals<base::Result<void>> arrived;
    ledger_->answers()->keep(once(key),
                             {.status = status, .fields = {{"ETag", "\"1\""}}, .body = "body"},
                             [&](base::Result<void> done) { arrived.add(std::move(done)); });
    return arrived.wait_for(1).front();
  }

  base::Result<void> forget(const std::string& key, const std::string& request = "r") {
    Arrivals<base::Result<void>> arrived;
    ledger_->answers()->forget(key, request,
                               [&](base::Result<void> done) { arrived.add(std::move(done)); });
    return arrived.wait_for(1).front();
  }

  TempFolder folder_;
  std::unique_ptr<Ledger> ledger_;
};

TEST_F(KeptAnswersTest, OneClaimsAndTheOthersSeeIt) {
  EXPECT_FALSE(recall("k", "first")->has_value());
  const auto second = recall("k", "second");
  ASSERT_TRUE(second && *second);
  EXPECT_EQ((*second)->claimed_by, "first");
  EXPECT_EQ((*second)->before, "before");
  open();
  EXPECT_EQ((*recall("k"))->claimed_by, "first");
}

TEST_F(KeptAnswersTest, AnAnswerTakesThePlaceOfTheClaim) {
  recall("k");
  ASSERT_TRUE(keep("k", 201));
  open();
  const auto row = recall("k");
  ASSERT_TRUE(row && *row);
  EXPECT_EQ((*row)->claimed_by, "");
  EXPECT_EQ((*row)->answer.status, 201);
  EXPECT_EQ((*row)->answer.body, "body");
}

TEST_F(KeptAnswersTest, AForgottenKeyIsFree) {
  recall("k");
  ASSERT_TRUE(forget("k"));
  EXPECT_FALSE(recall("k")->has_value());
  EXPECT_TRUE(forget("never there"));
  recall("l", "1");
  ASSERT_TRUE(forget("l", "2"));
  EXPECT_EQ((*recall("l"))->claimed_by, "1");
}

TEST_F(KeptAnswersTest, CallsTakeEffectInTheirOrderTogetherWithRaises) {
  Arrivals<Recalled> arrived;
  const auto add = [&](Recalled row) { arrived.add(std::move(row)); };
  AnswerStore& answers = *ledger_->answers();
  answers.recall(once("k"), "1", "", add);
  answers.recall(once("k"), "2", "", add);
  answers.forget("k", "1", [](const auto&) {});
  answers.recall(once("k"), "3", "", add);
  answers.keep(once("k"), {.status = 204, .fields = {}, .body = {}}, [](const auto&) {});
  answers.forget("k", "", [](const auto&) {});
  answers.recall(once("k"), "4", "", add);
  ASSERT_TRUE(raise_now(*ledger_, "key", testing::mark_of(5)));
  const auto rows = arrived.wait_for(4);
  EXPECT_FALSE(rows[0]->has_value());
  EXPECT_EQ((*rows[1])->claimed_by, "1");
  EXPECT_FALSE(rows[2]->has_value());
  EXPECT_EQ((*rows[3])->answer.status, 204);
}

TEST_F(KeptAnswersTest, WhatIsClaimedSurvivesAPowerLoss) {
  ledger_.reset();
  PowerLossVfs vfs;
  open();
  recall("k", "first");
  vfs.leave_what_is_durable(folder_.path(), folder_.path() / "left");
  ledger_.reset();
  SqliteLedgerOptions options;
  options.path = folder_.at("left/ledger.db");
  ledger_ = open_sqlite_ledger(std::move(options)).value();
  EXPECT_EQ((*recall("k"))->claimed_by, "first");
  ledger_.reset();  // Before its disk.
}

TEST_F(KeptAnswersTest, AFailingDiskClaimsNothing) {
  ledger_.reset();
  PowerLossVfs vfs;
  open();
  vfs.fail(PowerLossVfs::Fault::kSyncFails, 1, 1'000'000);
  const auto failed = recall("k");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, base::ErrorKind::kLedgerUnavailable);
  vfs.heal();
  ledger_.reset();  // Before its disk.
}

}  // namespace
}  // namespace fenceline::fencing
