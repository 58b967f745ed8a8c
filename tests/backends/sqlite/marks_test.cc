// The mark is in the database, and is raised in the transaction of the write.

#include <string>
#include <utility>

#include "tests/backends/sqlite/sqlite_fixture.h"

namespace fenceline::testing {
namespace {

constexpr const char* kMark = "SELECT token FROM fenceline_marks WHERE key='k'";

Answer put_as(backends::Backend& backend, std::int64_t token, const std::string& content) {
  return put(backend, "a", content, {}, stamp_of("k", token));
}

TEST_F(SqliteBackendTest, AWriteRaisesTheMarkWithItsData) {
  open();
  EXPECT_EQ(put_as(backend(), 33, "x").status, 201);
  EXPECT_EQ(foreign().value(kMark), "33");
  EXPECT_EQ(put_as(backend(), 33, "y").status, 204);
  EXPECT_EQ(put_as(backend(), 9223372036854775807, "z").status, 204);
  EXPECT_EQ(foreign().value(kMark), "9223372036854775807");
}

TEST_F(SqliteBackendTest, AWriteWithoutATokenLeavesTheMarksAlone) {
  open();
  put_as(backend(), 33, "x");
  EXPECT_EQ(put(backend(), "a", "y").status, 204);
  EXPECT_EQ(put(backend(), "a", "y", {}, stamp_of("", 1)).status, 204);
  EXPECT_EQ(foreign().value("SELECT count(*) || max(token) FROM fenceline_marks"), "133");
}

TEST_F(SqliteBackendTest, WhatSomebodyElseRaisedMakesUsStale) {
  open();
  put_as(backend(), 33, "ours");
  Staged staged = stage_put(backend(), "a", "late", {}, stamp_of("k", 34));
  // The SQL of docs/sqlite.md.
  auto other = foreign();
  other.run(
      "BEGIN IMMEDIATE;"
      "INSERT INTO fenceline_marks(key, token) VALUES('k', 35) ON CONFLICT(key) DO UPDATE SET "
      "token=excluded.token WHERE excluded.token > token;"
      "UPDATE documents SET body='theirs', etag=NULL WHERE name='a';"
      "COMMIT");
  const Answer stale = staged.commit();
  EXPECT_EQ(stale.error_name(), "stale-token");
  EXPECT_EQ(stale.error->store_mark, 35);
  EXPECT_EQ(stale.error->applied, base::Applied::kNo);
  EXPECT_EQ(fenced_get(backend(), "a", stamp_of("k", 34)).error->store_mark, 35);
  EXPECT_EQ(get(backend(), "a").content, "theirs");
  EXPECT_EQ(other.value(kMark), "35");
  EXPECT_EQ(put_as(backend(), 35, "newer").status, 204);
}

// Somebody else has a transaction open while our write begins: what we knew before it is old.
TEST_F(SqliteBackendTest, TheMarkIsJudgedInTheTransactionOfTheWrite) {
  open();
  put_as(backend(), 33, "ours");
  auto other = foreign();
  for (int ours = 100; ours < 120; ours += 2) {
    const std::string theirs = std::to_string(ours + 1);
    std::vector<Staged> writes;
    writes.push_back(stage_put(backend(), "a", "late", {}, stamp_of("k", ours)));
    other.run("BEGIN IMMEDIATE; UPDATE fenceline_marks SET token=" + theirs +
              " WHERE key='k'; UPDATE documents SET body='theirs', etag=NULL WHERE name='a'");
    const auto answers = commit_together(writes, [&] {
      // The write has time for whatever it does before it has the lock.
      for (int i = 0; i < 2'000; ++i) {
        other.value("SELECT count(*) FROM documents");
      }
      other.run("COMMIT");
    });
    EXPECT_EQ(answers[0].error_name(), "stale-token");
    EXPECT_EQ(get(backend(), "a").content, "theirs");
    EXPECT_EQ(other.value(kMark), theirs) << "a mark never goes down";
  }
}

TEST_F(SqliteBackendTest, TheFenceIsCheckedBeforeTheConditions) {
  open();
  put_as(backend(), 40, "x");
  EXPECT_EQ(put(backend(), "a", "y", {{"If-None-Match", "*"}}, stamp_of("k", 39)).error_name(),
            "stale-token");
  EXPECT_EQ(put(backend(), "a", "y", {{"If-None-Match", "*"}}, stamp_of("k", 41)).error_name(),
            "precondition-failed");
  EXPECT_EQ(foreign().value(kMark), "41") << "the newer holder has spoken";
  EXPECT_EQ(put_as(backend(), 40, "z").error_name(), "stale-token");
  EXPECT_EQ(get(backend(), "a").content, "x");
}

TEST_F(SqliteBackendTest, AFencedReadRaises) {
  open();
  put_as(backend(), 33, "x");
  const auto before = groups().size();
  EXPECT_EQ(fenced_get(backend(), "a", stamp_of("k", 34)).content, "x");
  EXPECT_EQ(foreign().value(kMark), "34");
  EXPECT_EQ(groups().size(), before + 1);
  EXPECT_EQ(put_as(backend(), 33, "late").error_name(), "stale-token");
  const auto after = groups().size();
  EXPECT_EQ(fenced_get(backend(), "a", stamp_of("k", 34)).content, "x");
  EXPECT_EQ(groups().size(), after) << "the steady state writes nothing";
  EXPECT_EQ(fenced_get(backend(), "none", stamp_of("k", 35)).error_name(), "not-found");
  EXPECT_EQ(foreign().value(kMark), "35");
}

TEST_F(SqliteBackendTest, AMarkCanBeReset) {
  open();
  put_as(backend(), 100, "x");
  EXPECT_TRUE(run(backend().reset_mark("k", base::Token::of(5))));
  EXPECT_EQ(put_as(backend(), 4, "y").error_name(), "stale-token");
  EXPECT_EQ(put_as(backend(), 5, "y").status, 204);
  EXPECT_TRUE(run(backend().reset_mark("k", {})));
  EXPECT_EQ(foreign().value("SELECT count(*) FROM fenceline_marks"), "0");
  EXPECT_TRUE(run(backend().reset_mark("unknown", base::Token::of(7))));
  EXPECT_EQ(put(backend(), "b", "x", {}, stamp_of("unknown", 6)).error_name(), "stale-token");
}

TEST_F(SqliteBackendTest, ARestoredBackupCarriesBoth) {
  open();
  put_as(backend(), 33, "old");
  foreign().run("VACUUM INTO '" + (folder() / "backup.db").string() + "'");
  put_as(backend(), 40, "new");
  close();
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(database() + suffix);
  }
  std::filesystem::rename(folder() / "backup.db", database());
  open();
  EXPECT_EQ(get(backend(), "a").content, "old");
  EXPECT_EQ(put_as(backend(), 32, "x").error_name(), "stale-token");
  EXPECT_EQ(put_as(backend(), 33, "x").status, 204);
}

TEST_F(SqliteBackendTest, AnUnreadableMarkIsNotNone) {
  open();
  auto other = foreign();
  other.run("PRAGMA ignore_check_constraints=ON; INSERT INTO fenceline_marks VALUES('k', -1)");
  const Answer answer = put_as(backend(), 33, "x");
  EXPECT_EQ(answer.error_name(), "storage-failed");
  EXPECT_EQ(answer.error->applied, base::Applied::kNo);
  EXPECT_EQ(get(backend(), "a").error_name(), "not-found");
}

TEST_F(SqliteBackendTest, AnotherTableOfThatNameIsNoTableOfMarks) {
  for (const char* sql :
       {"CREATE TABLE fenceline_marks(key TEXT, token INTEGER)",
        "CREATE TABLE fenceline_marks(key TEXT PRIMARY KEY, token TEXT)",
        "CREATE TABLE fenceline_marks(key TEXT COLLATE NOCASE PRIMARY KEY, token INTEGER)",
        "CREATE TABLE fenceline_marks(key TEXT, token INTEGER, x, PRIMARY KEY(key, x))",
        "CREATE VIEW fenceline_marks AS SELECT 'a' AS key, 1 AS token",
        "CREATE TABLE fenceline_marks(id INTEGER PRIMARY KEY)"}) {
    std::filesystem::remove(database());
    given(sql);
    const auto opened = try_open();
    ASSERT_FALSE(opened) << sql;
    EXPECT_NE(opened.error().detail.find("no table of marks"), std::string::npos)
        << opened.error().detail;
  }
}

}  // namespace
}  // namespace fenceline::testing
