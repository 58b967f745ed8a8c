#include "fencing/sqlite_ledger.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "fencing/lease/lease_change.h"
#include "fencing/ledger_file.h"
#include "fencing/ledger_writer.h"
#include "tests/support/lease_calls.h"
#include "tests/support/ledger_calls.h"
#include "tests/support/temp_folder.h"

namespace fenceline::fencing {
namespace {

namespace fs = std::filesystem;
using ::fenceline::testing::Arrivals;
using ::fenceline::testing::find_now;
using ::fenceline::testing::grant_now;
using ::fenceline::testing::key_of;
using ::fenceline::testing::kPatience;
using ::fenceline::testing::lease_of;
using ::fenceline::testing::mark_of;
using ::fenceline::testing::raise_now;
using ::fenceline::testing::TempFolder;

/// A door that the ledger's thread stands before until the test opens it.
class Door {
 public:
  /// On the ledger's thread: says that it is here, and waits.
  void pass() {
    arrived_.add(true);
    if (open_.wait_for(kPatience) != std::future_status::ready) {
      throw std::runtime_error("nobody opened the door");
    }
  }
  void wait_until_somebody_stands_here() { arrived_.wait_for(1); }
  void open() { opened_.set_value(); }

 private:
  Arrivals<bool> arrived_;
  std::promise<void> opened_;
  std::shared_future<void> open_ = opened_.get_future().share();
};

class SqliteLedgerTest : public ::testing::Test {
 protected:
  void open(std::size_t max_group = 1024, std::size_t max_waiting = 65536) {
    SqliteLedgerOptions options;
    options.path = path_;
    options.max_group = max_group;
    options.max_waiting = max_waiting;
    options.on_commit = [this](const LedgerCommit& commit) { commits_.add(commit); };
    options.on_failure = [this](const LedgerFailure& failure) { failures_.add(failure); };
    ledger_ = open_sqlite_ledger(std::move(options)).value();
  }

  /// Keeps the ledger's thread busy, so that everything that is called next waits.
  void hold() {
    ledger_->find(key_of("hold"), [this](const base::Result<Mark>&) { door_.pass(); });
    door_.wait_until_somebody_stands_here();
  }

  void raise(const std::string& key, std::int64_t token) {
    ledger_->raise(key_of(key), mark_of(token),
                   [this](auto result) { answers_.add(std::move(result)); });
  }

  TempFolder folder_;
  const std::string path_ = folder_.at("ledger.db");
  Door door_;
  Arrivals<LedgerCommit> commits_;
  Arrivals<LedgerFailure> failures_;
  Arrivals<base::Result<Mark>> answers_;
  std::unique_ptr<Ledger> ledger_;
};

TEST_F(SqliteLedgerTest, ASequenceThatAnEarlierVersionDroveToItsEndGoesOn) {
  open();
  grant_now(*ledger_, {lease_of("1", {"a"}), {}, {}, {}}).value();
  ledger_.reset();
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
  const int changed = sqlite3_exec(database, "UPDATE lease_tokens SET last = 9223372036854775807",
                                   nullptr, nullptr, nullptr);
  sqlite3_close(database);
  ASSERT_EQ(changed, SQLITE_OK);
  open();
  const auto token = grant_now(*ledger_, {lease_of("2", {"b"}), {}, {}, {}});
  EXPECT_EQ(token.value(), base::Token::of(kHighestRemembered + 1));
}

TEST_F(SqliteLedgerTest, RaisesThatWaitShareOneCommit) {
  open();
  hold();
  for (int i = 1; i <= 100; ++i) {
    raise("key/" + std::to_string(i), i);
  }
  door_.open();
  answers_.wait_for(100);
  const auto commits = commits_.all();
  ASSERT_EQ(commits.size(), 1U);
  EXPECT_EQ(commits[0].raises, 100U);
  EXPECT_GT(commits[0].seconds, 0.0);
  EXPECT_LT(commits[0].seconds, 60.0);
  EXPECT_EQ(find_now(*ledger_, "key/100").value(), mark_of(100));
}

TEST_F(SqliteLedgerTest, AGroupIsNotLargerThanAllowed) {
  open(30);
  hold();
  for (int i = 1; i <= 100; ++i) {
    raise("key", i);
  }
  door_.open();
  answers_.wait_for(100);
  std::vector<std::size_t> sizes;
  for (const LedgerCommit& commit : commits_.all()) {
    sizes.push_back(commit.raises);
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{30, 30, 30, 10}));
}

TEST_F(SqliteLedgerTest, RaisesOfOneKeyInOneGroupAreMergedInOrder) {
  open();
  hold();
  for (const std::int64_t token : {3, 1, 7, 7, 5}) {
    raise("key", token);
  }
  door_.open();
  std::vector<std::int64_t> after;
  for (const auto& answer : answers_.wait_for(5)) {
    after.push_back(answer.value().token.value());
  }
  EXPECT_EQ(after, (std::vector<std::int64_t>{3, 3, 7, 7, 7}));
  EXPECT_EQ(commits_.all().size(), 1U);
}

TEST_F(SqliteLedgerTest, ARaiseThatChangesNothingCommitsNothing) {
  open();
  raise_now(*ledger_, "key", mark_of(7)).value();
  EXPECT_EQ(raise_now(*ledger_, "key", mark_of(7)).value(), mark_of(7));
  EXPECT_EQ(raise_now(*ledger_, "key", mark_of(3)).value(), mark_of(7));
  EXPECT_EQ(commits_.all().size(), 1U);
}

TEST_F(SqliteLedgerTest, BeyondTheBoundRequestsAreRefusedAtOnce) {
  open(1024, 10);
  hold();
  for (int i = 1; i <= 10; ++i) {
    raise("key", i);
  }
  EXPECT_TRUE(answers_.all().empty());
  raise("key", 11);
  EXPECT_EQ(answers_.wait_for(1)[0].error().kind, base::ErrorKind::kOverloaded);
  EXPECT_EQ(find_now(*ledger_, "key").error().kind, base::ErrorKind::kOverloaded);
  door_.open();
  EXPECT_EQ(answers_.wait_for(11).back().value(), mark_of(10));
  EXPECT_EQ(raise_now(*ledger_, "key", mark_of(12)).value(), mark_of(12));
}

TEST_F(SqliteLedgerTest, WhatWasNotBegunIsAnsweredWithShuttingDown) {
  auto writer = LedgerWriter::make(open_ledger_file(path_).value(), {}).value();
  LedgerQueue queue(100);
  RaiseRequest raised{"key", mark_of(1), [this](auto result) { answers_.add(std::move(result)); }};
  FindRequest found{"key", [this](auto result) { answers_.add(std::move(result)); }};
  Arrivals<base::Result<std::vector<KeyedMark>>> rows;
  ScanRequest scanned{{}, 10, [&](auto result) { rows.add(std::move(result)); }};
  queue.push(raised);
  queue.push(found);
  queue.push(scanned);
  queue.close();
  writer->serve(queue);
  ASSERT_EQ(answers_.all().size(), 2U);
  for (const auto& answer : answers_.all()) {
    EXPECT_EQ(answer.error().kind, base::ErrorKind::kShuttingDown);
  }
  EXPECT_EQ(rows.wait_for(1)[0].error().kind, base::ErrorKind::kShuttingDown);
  writer.reset();
  open();
  EXPECT_EQ(find_now(*ledger_, "key").value(), Mark{});
}

TEST_F(SqliteLedgerTest, TheLogIsBoundedUnderLoad) {
  open();
  const std::string tail(900, 'x');
  std::uintmax_t longest = 0;
  // 40 MiB of pages go through the log; it is copied into the file every 16 MiB.
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 1000; ++i) {
      raise(std::to_string((i * 7919 + round * 31) % 100'003) + tail, round + 1);
    }
    answers_.wait_for(static_cast<std::size_t>(round + 1) * 1000);
    longest = std::max(longest, fs::file_size(path_ + "-wal"));
  }
  EXPECT_GT(longest, std::uintmax_t{8} << 20U);
  EXPECT_LT(longest, std::uintmax_t{32} << 20U);
}

TEST_F(SqliteLedgerTest, AFileThatWasDeletedTakesNoMoreMarks) {
  open();
  raise_now(*ledger_, "key", mark_of(1)).value();
  fs::remove(path_);
  EXPECT_EQ(raise_now(*ledger_, "key", mark_of(2)).error().kind,
            base::ErrorKind::kLedgerUnavailable);
  EXPECT_EQ(find_now(*ledger_, "key").error().kind, base::ErrorKind::kLedgerUnavailable);
  const auto failures = failures_.wait_for(1);
  EXPECT_TRUE(failures[0].until_restart);
  EXPECT_NE(failures[0].text.find(path_), std::string::npos) << failures[0].text;
  EXPECT_NE(failures[0].text.find("deleted"), std::string::npos) << failures[0].text;
  EXPECT_NE(failures[0].text.find("restore the ledger file first"), std::string::npos)
      << failures[0].text;
}

}  // namespace
}  // namespace fenceline::fencing
