#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fencing/sqlite_ledger.h"
#include "tests/fencing/child_process.h"
#include "tests/support/ledger_calls.h"
#include "tests/support/temp_folder.h"

namespace fenceline::fencing {
namespace {

namespace fs = std::filesystem;
using ::fenceline::testing::Arrivals;
using ::fenceline::testing::ChildProcess;
using ::fenceline::testing::find_now;
using ::fenceline::testing::key_of;
using ::fenceline::testing::mark_of;
using ::fenceline::testing::raise_now;
using ::fenceline::testing::TempFolder;

base::Result<std::unique_ptr<Ledger>> open_at(const std::string& path) {
  SqliteLedgerOptions options;
  options.path = path;
  return open_sqlite_ledger(std::move(options));
}

/// Runs SQL on the file without any ledger.
int run_sql(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  const int code = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
  sqlite3_close(database);
  return code;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

class LedgerFileTest : public ::testing::Test {
 protected:
  /// A closed ledger with a few marks.
  void make_ledger(int marks = 3) {
    const auto ledger = open_at(path_).value();
    Arrivals<base::Result<Mark>> answers;
    for (int i = 1; i <= marks; ++i) {
      ledger->raise(key_of("key/" + std::to_string(i)), mark_of(i),
                    [&](auto result) { answers.add(std::move(result)); });
    }
    for (const auto& answer : answers.wait_for(static_cast<std::size_t>(marks))) {
      answer.value();
    }
  }

  /// Expects that the ledger is refused, with a sentence that names the file and holds `reason`,
  /// and that the file is left as it was.
  void expect_refused(const std::string& reason) {
    const std::string before = content_of(path_);
    const auto ledger = open_at(path_);
    ASSERT_FALSE(ledger.has_value());
    EXPECT_EQ(ledger.error().kind, base::ErrorKind::kLedgerUnavailable);
    EXPECT_NE(ledger.error().detail.find(reason), std::string::npos) << ledger.error().detail;
    EXPECT_NE(ledger.error().detail.find(path_), std::string::npos) << ledger.error().detail;
    EXPECT_EQ(content_of(path_), before);
  }

  TempFolder folder_;
  const std::string path_ = folder_.at("ledger.db");
};

TEST_F(LedgerFileTest, MissingFoldersAreMadeForTheOwnerOnly) {
  const std::string deep = folder_.at("var/fenceline/ledger.db");
  ASSERT_TRUE(open_at(deep).has_value());
  struct stat status {};
  ASSERT_EQ(::stat(folder_.at("var/fenceline").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(LedgerFileTest, ACleanCloseLeavesOneFileAndTheLock) {
  make_ledger();
  EXPECT_TRUE(fs::exists(path_));
  EXPECT_FALSE(fs::exists(path_ + "-wal"));
  EXPECT_FALSE(fs::exists(path_ + "-shm"));
  EXPECT_FALSE(fs::exists(path_ + ".new"));
}

TEST_F(LedgerFileTest, WhatAnUnfinishedFirstStartLeftIsReplaced) {
  write_file(path_ + ".new", "half a file");
  write_file(path_ + ".new-journal", "half a journal");
  make_ledger();
  EXPECT_EQ(find_now(*open_at(path_).value(), "key/3").value(), mark_of(3));
}

TEST_F(LedgerFileTest, AnotherProcessIsRefusedAndNamed) {
  ChildProcess holder([this](const ChildProcess::Parent& parent) {
    const auto ledger = open_at(path_);
    // Used, then idle in WAL mode: the lock must not end with the transaction.
    parent.report(raise_now(*ledger.value(), "a", mark_of(1)).has_value() ? 1 : -1);
    parent.wait_for_go();
    return 0;
  });
  ASSERT_EQ(holder.next_report(), 1);
  const std::string before = content_of(path_);
  for (const std::string& name : {path_, folder_.at("./ledger.db")}) {
    const auto second = open_at(name);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().detail,
              "The ledger " + path_ + " is in use by another process (id " +
                  std::to_string(holder.pid()) +
                  "). Stop that process, or give this one a ledger of its own.");
  }
  EXPECT_EQ(run_sql(path_, "SELECT count(*) FROM marks"), SQLITE_BUSY)
      << "a program that knows nothing of our lock is kept out as well";
  holder.kill_now();
  EXPECT_TRUE(open_at(path_).has_value()) << "the lock ends with its process";
}

TEST_F(LedgerFileTest, ASymlinkIsTheSameLedger) {
  make_ledger();
  fs::create_symlink(path_, folder_.at("alias.db"));
  const auto first = open_at(folder_.at("alias.db"));
  ASSERT_TRUE(first.has_value());
  const auto second = open_at(path_);
  ASSERT_FALSE(second.has_value());
  EXPECT_NE(second.error().detail.find("in use by this process already"), std::string::npos)
      << second.error().detail;
}

TEST_F(LedgerFileTest, ASymlinkToNothingIsRefusedAndKept) {
  fs::create_symlink(folder_.at("elsewhere.db"), path_);
  const auto ledger = open_at(path_);
  ASSERT_FALSE(ledger.has_value());
  EXPECT_NE(ledger.error().detail.find("symbolic link to nothing"), std::string::npos);
  EXPECT_TRUE(fs::is_symlink(path_));
}

TEST_F(LedgerFileTest, AProgramThatHoldsTheFileWithoutOurLockIsNoticed) {
  make_ledger();
  ChildProcess holder([this](const ChildProcess::Parent& parent) {
    sqlite3* database = nullptr;
    sqlite3_open(path_.c_str(), &database);
    const int code = sqlite3_exec(database, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr);
    parent.report(code == SQLITE_OK ? 1 : -1);
    parent.wait_for_go();
    return 0;
  });
  ASSERT_EQ(holder.next_report(), 1);
  const auto ledger = open_at(path_);
  ASSERT_FALSE(ledger.has_value());
  EXPECT_NE(ledger.error().detail.find("in use by another process"), std::string::npos)
      << ledger.error().detail;
  holder.kill_now();
  EXPECT_EQ(find_now(*open_at(path_).value(), "key/3").value(), mark_of(3));
}

TEST_F(LedgerFileTest, ANewerFormatIsRefused) {
  make_ledger();
  ASSERT_EQ(run_sql(path_, "PRAGMA user_version=5"), SQLITE_OK);
  expect_refused("has format 5, written by a newer version");
}

TEST_F(LedgerFileTest, AnUnknownFormatIsRefused) {
  make_ledger();
  ASSERT_EQ(run_sql(path_, "PRAGMA user_version=0"), SQLITE_OK);
  expect_refused("unknown format 0");
}

TEST_F(LedgerFileTest, ADatabaseOfAnotherProgramIsRefused) {
  ASSERT_EQ(run_sql(path_, "CREATE TABLE marks (key, token, holder); PRAGMA user_version=1"),
            SQLITE_OK);
  expect_refused("not a ledger");
}

TEST_F(LedgerFileTest, AnAlteredTableIsRefused) {
  make_ledger();
  ASSERT_EQ(run_sql(path_,
                    "CREATE TRIGGER forget AFTER UPDATE ON marks BEGIN "
                    "DELETE FROM marks WHERE key = new.key; END"),
            SQLITE_OK);
  expect_refused("has been altered");
}

TEST_F(LedgerFileTest, AnIdentityThatIsNotOneIsRefused) {
  make_ledger();
  const std::string another = "INSERT INTO ledger VALUES ('" + std::string(32, 'a') + "')";
  for (const std::string& sql :
       {another, std::string("DELETE FROM ledger"), std::string("INSERT INTO ledger VALUES ('me')"),
        "UPDATE ledger SET identity='" + std::string(32, 'A') + "'"}) {
    SCOPED_TRACE(sql);
    ASSERT_EQ(run_sql(path_, sql), SQLITE_OK);
    expect_refused("identity");
  }
}

TEST_F(LedgerFileTest, ACopyKeepsTheIdentity) {
  make_ledger();
  fs::copy_file(path_, folder_.at("copy.db"));
  EXPECT_EQ(open_at(folder_.at("copy.db")).value()->identity(), open_at(path_).value()->identity());
}

TEST_F(LedgerFileTest, ALedgerWithoutMarksIsReportedAtEveryStart) {
  std::vector<std::string> reported;
  const auto open = [&] {
    SqliteLedgerOptions options;
    options.path = path_;
    options.on_no_marks = [&](const std::string& path) { reported.push_back(path); };
    return open_sqlite_ledger(std::move(options)).value();
  };
  open();
  open();  // the first may have stopped before anybody read its warning
  EXPECT_EQ(reported, std::vector<std::string>({path_, path_}));
  raise_now(*open(), "a", mark_of(1)).value();
  reported.clear();
  open();
  EXPECT_TRUE(reported.empty());
}

TEST_F(LedgerFileTest, AFileThatIsNoDatabaseIsRefusedAndNobodyIsToldToRemoveIt) {
  for (const std::size_t bytes : {8192U, 4096U, 1151U, 1U}) {
    SCOPED_TRACE(bytes);
    write_file(path_, std::string(bytes, 'x'));
    expect_refused("not a SQLite database");
    expect_refused("Point ledger.sqlite at a file of its own");
    EXPECT_EQ(open_at(path_).error().detail.find("remove"), std::string::npos);
  }
}

TEST_F(LedgerFileTest, AFileWithoutAWholePageIsNotTakenForANewLedger) {
  make_ledger();
  for (const std::uintmax_t left : {4095U, 100U, 1U, 0U}) {
    fs::resize_file(path_, left);
    expect_refused("has " + std::to_string(left) + " bytes");
    expect_refused("to forget every mark so that writers that were shut out pass again, remove it");
  }
}

TEST_F(LedgerFileTest, AMissingFileWithItsLogLeftIsRefused) {
  write_file(path_ + "-wal", "log");
  const auto ledger = open_at(path_);
  ASSERT_FALSE(ledger.has_value());
  EXPECT_NE(ledger.error().detail.find("is missing, but its log"), std::string::npos);
  EXPECT_EQ(content_of(path_ + "-wal"), "log");
}

TEST_F(LedgerFileTest, ATruncatedFileIsRefused) {
  make_ledger(2000);
  const auto size = fs::file_size(path_);
  ASSERT_GT(size, 5U * 4096U);
  const std::string intact = content_of(path_);
  for (const auto& left :
       {size - 4096, size - 1, size / 2, std::uintmax_t{4096}, std::uintmax_t{100}}) {
    write_file(path_, intact);
    fs::resize_file(path_, left);
    SCOPED_TRACE(left);
    expect_refused("");
  }
}

TEST_F(LedgerFileTest, ADamagedPageIsRefused) {
  make_ledger(2000);
  std::string content = content_of(path_);
  content.replace(content.size() - 4096, 64, std::string(64, '\x7E'));
  write_file(path_, content);
  expect_refused("is damaged");
}

// Every page is sound by itself, but a lookup misses a mark: the gate would be open for its key.
TEST_F(LedgerFileTest, KeysOutOfOrderAreRefused) {
  make_ledger(3);
  std::string content = content_of(path_);
  const std::size_t page = content.find(std::string("\x0a\0\0\0\x03", 5), 4096);
  ASSERT_NE(page, std::string::npos) << "a leaf of an index, with three cells";
  ASSERT_EQ(page % 4096, 0U);
  const std::size_t cells = page + 8;
  std::swap_ranges(content.begin() + static_cast<std::ptrdiff_t>(cells),
                   content.begin() + static_cast<std::ptrdiff_t>(cells + 2),
                   content.begin() + static_cast<std::ptrdiff_t>(cells + 4));
  write_file(path_, content);
  expect_refused("is damaged");
}

TEST_F(LedgerFileTest, AFolderIsRefused) {
  fs::create_directory(path_);
  const auto ledger = open_at(path_);
  ASSERT_FALSE(ledger.has_value());
  EXPECT_NE(ledger.error().detail.find("not a regular file"), std::string::npos);
}

TEST_F(LedgerFileTest, ASecondNameOfTheFileIsRefused) {
  make_ledger();
  fs::create_hard_link(path_, folder_.at("other.db"));
  expect_refused("hard links");
}

TEST_F(LedgerFileTest, AnEmptyPathIsRefused) {
  EXPECT_EQ(open_at("").error().kind, base::ErrorKind::kLedgerUnavailable);
}

TEST_F(LedgerFileTest, AFolderThatIsAFileIsRefused) {
  write_file(folder_.at("file"), "x");
  EXPECT_EQ(open_at(folder_.at("file/ledger.db")).error().kind,
            base::ErrorKind::kLedgerUnavailable);
}

TEST_F(LedgerFileTest, AFileThatCannotBeWrittenIsRefused) {
  make_ledger();
  fs::permissions(folder_.path(), fs::perms::all);
  fs::permissions(path_ + ".lock", fs::perms::all);
  fs::permissions(path_, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  // Root may write whatever the mode says, so somebody else tries.
  ChildProcess other([this](const ChildProcess::Parent&) {
    constexpr unsigned kNobody = 65534;
    if (::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
      return 1;
    }
    const auto ledger = open_at(path_);
    if (ledger.has_value()) {
      return 2;
    }
    return ledger.error().detail.find("cannot be written") == std::string::npos ? 3 : 0;
  });
  EXPECT_EQ(other.join(), 0);
}

TEST_F(LedgerFileTest, AFolderThatCannotBeWrittenIsRefused) {
  fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec |
                                      fs::perms::others_read | fs::perms::others_exec);
  ChildProcess other([this](const ChildProcess::Parent&) {
    constexpr unsigned kNobody = 65534;
    if (::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
      return 1;
    }
    const auto ledger = open_at(path_);
    if (ledger.has_value()) {
      return 2;
    }
    return ledger.error().detail.find("right to write") == std::string::npos ? 3 : 0;
  });
  EXPECT_EQ(other.join(), 0);
}

}  // namespace
}  // namespace fenceline::fencing
