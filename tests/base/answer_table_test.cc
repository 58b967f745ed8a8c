#include "base/answer_table.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/manual_clock.h"
#include "tests/support/temp_folder.h"

namespace fenceline::base {
namespace {

using std::chrono::minutes;

constexpr const char* kTable = "kept \"answers\"";

class AnswerTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = SqliteConnection::open(folder_.at("kept.db"), SQLITE_OPEN_CREATE);
    ASSERT_TRUE(opened);
    connection_ = std::move(*opened);
    ASSERT_TRUE(connection_.run("PRAGMA synchronous=OFF"));
    ASSERT_TRUE(connection_.run(AnswerTable::sql_to_make(kTable)));
    open();
  }

  void open(std::size_t max_rows = 1000) {
    auto table = AnswerTable::prepare(connection_, kTable, max_rows, clock_);
    ASSERT_TRUE(table) << table.error().text;
    table_.emplace(std::move(*table));
  }

  bool is_kept(const std::string& key) { return table_->find(key)->has_value(); }

  static Once once(std::string key, Milliseconds ttl = minutes(10)) {
    return {.key = std::move(key), .print = "print", .ttl = ttl};
  }

  testing::TempFolder folder_;
  testing::ManualClock clock_;
  SqliteConnection connection_;
  std::optional<AnswerTable> table_;
};

TEST_F(AnswerTableTest, KeepsAnAnswerAsItIs) {
  EXPECT_FALSE(is_kept("a"));
  const KeptAnswer answer{.status = 201,
                          .fields = {{"ETag", "\"x\""}, {"Empty", ""}, {"Colon", "a: b"}},
                          .body = std::string("a\0b", 3)};
  ASSERT_TRUE(table_->keep(once("a"), answer));
  const auto row = *table_->find("a");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->answer, answer);
  EXPECT_EQ(row->print, "print");
  EXPECT_EQ(row->claimed_by, "");
}

TEST_F(AnswerTableTest, AClaimBecomesAnAnswerOrGoes) {
  ASSERT_TRUE(table_->claim(once("a"), "request-1", "request-0"));
  auto row = *table_->find("a");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->claimed_by, "request-1");
  EXPECT_EQ(row->before, "request-0");
  EXPECT_FALSE(table_->claim(once("a"), "request-2", ""));
  ASSERT_TRUE(table_->keep(once("a"), {.status = 204, .fields = {}, .body = {}}));
  row = *table_->find("a");
  EXPECT_EQ(row->claimed_by, "");
  EXPECT_EQ(row->answer.status, 204);
  ASSERT_TRUE(table_->claim(once("b"), "request-3", ""));
  ASSERT_TRUE(table_->drop("b", "request-2"));
  EXPECT_TRUE(is_kept("b"));
  ASSERT_TRUE(table_->drop("b", "request-3"));
  EXPECT_FALSE(is_kept("b"));
  ASSERT_TRUE(table_->drop("a", ""));
  EXPECT_TRUE(is_kept("a")) << "an answer is not forgotten";
  ASSERT_TRUE(table_->drop("never there", "request-3"));
}

TEST_F(AnswerTableTest, StaysForItsTimeAndThenLeaves) {
  ASSERT_TRUE(table_->keep(once("short", minutes(1)), {}));
  ASSERT_TRUE(table_->keep(once("long", minutes(10)), {}));
  clock_.advance(minutes(1));
  EXPECT_TRUE(*table_->has_room());
  EXPECT_TRUE(is_kept("short"));
  clock_.advance(minutes(2));
  EXPECT_TRUE(*table_->has_room());
  EXPECT_FALSE(is_kept("short"));
  EXPECT_TRUE(is_kept("long"));
  clock_.advance(minutes(9));
  EXPECT_TRUE(*table_->has_room());
  EXPECT_FALSE(is_kept("long"));
}

TEST_F(AnswerTableTest, ATimeInWhichNothingRanDoesNotCount) {
  ASSERT_TRUE(table_->keep(once("a", minutes(2)), {}));
  clock_.advance(minutes(1));
  EXPECT_TRUE(*table_->has_room());
  clock_.advance(std::chrono::hours(1000));
  open();
  clock_.advance(minutes(1));
  EXPECT_TRUE(*table_->has_room());
  EXPECT_TRUE(is_kept("a"));
  clock_.advance(minutes(2));
  EXPECT_TRUE(*table_->has_room());
  EXPECT_FALSE(is_kept("a"));
}

TEST_F(AnswerTableTest, HasABound) {
  open(2);
  EXPECT_TRUE(*table_->has_room());
  ASSERT_TRUE(table_->claim(once("a"), "r", ""));
  ASSERT_TRUE(table_->claim(once("b"), "r", ""));
  EXPECT_FALSE(*table_->has_room());
  open(2);
  EXPECT_FALSE(*table_->has_room());
  ASSERT_TRUE(table_->keep(once("b"), {}));
  EXPECT_FALSE(*table_->has_room());
  ASSERT_TRUE(table_->drop("a", "r"));
  EXPECT_TRUE(*table_->has_room());
}

TEST_F(AnswerTableTest, WhatIsRolledBackDoesNotCount) {
  open(2);
  ASSERT_TRUE(table_->keep(once("a"), {}));
  ASSERT_TRUE(connection_.run("BEGIN"));
  ASSERT_TRUE(table_->keep(once("b"), {}));
  EXPECT_FALSE(*table_->has_room());
  ASSERT_TRUE(connection_.run("ROLLBACK"));
  EXPECT_TRUE(*table_->has_room());
  EXPECT_FALSE(is_kept("b"));
}

TEST_F(AnswerTableTest, ManyThatAreDueLeaveInPortions) {
  for (int i = 0; i < 250; ++i) {
    ASSERT_TRUE(table_->keep(once(std::to_string(i), minutes(1)), {}));
  }
  clock_.advance(minutes(5));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(*table_->has_room());
  }
  EXPECT_EQ(*connection_.value_of("SELECT count(*) FROM \"kept \"\"answers\"\"\" WHERE key <> ''"),
            "0");
}

TEST_F(AnswerTableTest, AnotherTableOfThatNameIsNotTaken) {
  ASSERT_TRUE(connection_.run("CREATE TABLE other(key TEXT)"));
  EXPECT_FALSE(AnswerTable::prepare(connection_, "other", 10, clock_));
  EXPECT_FALSE(AnswerTable::prepare(connection_, "missing", 10, clock_));
}

}  // namespace
}  // namespace fenceline::base
