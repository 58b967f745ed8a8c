// Group commit: independent requests share a transaction and do not hurt each other.

#include <string>
#include <thread>
#include <vector>

#include "tests/backends/sqlite/sqlite_fixture.h"

namespace fenceline::testing {
namespace {

using backends::StatementMode;

class SqliteGroupTest : public SqliteBackendTest {
 protected:
  void open_with_rules() {
    given(
        "CREATE TABLE documents(name TEXT PRIMARY KEY, body BLOB CHECK (length(body) < 100), "
        "etag TEXT); CREATE TABLE t(x CHECK (x < 10))");
    auto with = options();
    with.statements = {
        {"rollback", StatementMode::kWrite,
         "INSERT INTO t VALUES(1); INSERT OR ROLLBACK INTO t VALUES(77)"},
        {"endless", StatementMode::kWrite,
         "INSERT INTO t VALUES(2); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) "
         "INSERT INTO t SELECT x % 3 FROM c"}};
    with.statement_timeout = base::Milliseconds{100};
    open(std::move(with));
  }

  /// Commits all of them in at most two groups: the writer waits for a lock meanwhile.
  std::vector<Answer> commit_in_groups(std::vector<Staged>& writes) {
    auto other = foreign();
    other.run("BEGIN IMMEDIATE");
    return commit_together(writes, [&] { other.run("COMMIT"); });
  }

  std::size_t committed() const {
    std::size_t sum = 0;
    for (const std::size_t group : groups()) {
      sum += group;
    }
    return sum;
  }
};

TEST_F(SqliteGroupTest, AFailureAmongGoodOnesFailsAlone) {
  open_with_rules();
  put(backend(), "there", "x", {}, stamp_of("taken", 9));
  const std::size_t groups_before = groups().size();
  const std::size_t before = committed();
  std::vector<Staged> writes;
  for (int i = 0; i < 20; ++i) {
    writes.push_back(stage_put(backend(), "doc" + std::to_string(i), "x", {},
                               stamp_of("key" + std::to_string(i % 5), 1)));
  }
  writes.push_back(stage_put(backend(), "there", "y", {{"If-None-Match", "*"}}));
  writes.push_back(stage_put(backend(), "stale", "y", {}, stamp_of("taken", 8)));
  writes.push_back(stage_put(backend(), "long", std::string(200, 'x')));
  writes.push_back(stage_delete(backend(), "none"));
  writes.push_back(stage_put(backend(), "last", "y"));
  const auto answers = commit_in_groups(writes);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(answers[i].status, 201) << i;
    EXPECT_EQ(get(backend(), "doc" + std::to_string(i)).content, "x");
  }
  EXPECT_EQ(answers[20].error_name(), "precondition-failed");
  EXPECT_EQ(answers[21].error_name(), "stale-token");
  EXPECT_EQ(answers[22].error_name(), "constraint-failed");
  EXPECT_EQ(answers[23].error_name(), "not-found");
  EXPECT_EQ(answers[24].status, 201);
  EXPECT_EQ(committed() - before, 25U);
  EXPECT_LE(groups().size() - groups_before, 2U);
  EXPECT_EQ(foreign().value("SELECT count(*) FROM documents"), "22");
}

TEST_F(SqliteGroupTest, OneThatEndsTheTransactionIsLeftOut) {
  open_with_rules();
  for (const std::string name : {"rollback", "endless"}) {
    std::vector<Staged> writes;
    writes.push_back(stage_put(backend(), name + "1", "x"));
    writes.push_back(stage_put(backend(), name + "2", "x"));
    writes.push_back(stage_post(backend(), name, "{}"));
    writes.push_back(stage_put(backend(), name + "3", "x"));
    const auto answers = commit_in_groups(writes);
    EXPECT_EQ(answers[0].status, 201);
    EXPECT_EQ(answers[1].status, 201);
    EXPECT_EQ(answers[2].error_name(), name == "rollback" ? "constraint-failed" : "overloaded");
    EXPECT_EQ(answers[2].error->applied, base::Applied::kNo);
    EXPECT_EQ(answers[3].status, 201);
  }
  EXPECT_EQ(foreign().value("SELECT count(*) FROM documents"), "6");
  EXPECT_EQ(foreign().value("SELECT count(*) FROM t"), "0");
  EXPECT_FALSE(backend().out_of_service());
}

TEST_F(SqliteGroupTest, WritesOfOneKeyInOneGroupAreInOrder) {
  open();
  std::vector<Staged> writes;
  for (const int token : {5, 4, 6, 5, 6}) {
    writes.push_back(stage_put(backend(), "a", std::to_string(token), {}, stamp_of("k", token)));
  }
  const auto answers = commit_in_groups(writes);
  EXPECT_EQ(answers[0].status, 201);
  EXPECT_EQ(answers[1].error_name(), "stale-token");
  EXPECT_EQ(answers[2].status, 204);
  EXPECT_EQ(answers[3].error_name(), "stale-token");
  EXPECT_EQ(answers[3].error->store_mark, 6);
  EXPECT_EQ(answers[4].status, 204);
  EXPECT_EQ(get(backend(), "a").content, "6");
}

TEST_F(SqliteGroupTest, ALockThatStaysIsAnsweredInTime) {
  auto with = options();
  with.busy_timeout = base::Milliseconds{100};
  open(std::move(with));
  put(backend(), "a", "old");
  auto other = foreign();
  other.run("BEGIN IMMEDIATE; UPDATE documents SET body='theirs'");
  const Answer answer = put(backend(), "a", "new");
  EXPECT_EQ(answer.error_name(), "overloaded");
  EXPECT_EQ(answer.error->applied, base::Applied::kNo);
  EXPECT_NE(answer.error->detail.find("data.db"), std::string::npos);
  EXPECT_EQ(get(backend(), "a").content, "old") << "readers go on";
  other.run("COMMIT");
  EXPECT_EQ(get(backend(), "a").content, "theirs");
  EXPECT_EQ(put(backend(), "a", "new").status, 204);
  EXPECT_FALSE(backend().out_of_service());
}

TEST_F(SqliteGroupTest, TheLogStaysSmall) {
  open();
  for (int i = 0; i < 48; ++i) {
    ASSERT_NE(put(backend(), "doc" + std::to_string(i % 3), std::string(1'000'000, 'x')).status, 0);
  }
  EXPECT_LT(std::filesystem::file_size(database() + "-wal"), 20'000'000U);
}

TEST_F(SqliteGroupTest, NothingIsLostBesideAForeignWriter) {
  open();
  constexpr int kEach = 60;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([this, thread] {
        for (int i = 0; i < kEach; ++i) {
          const std::string name = std::to_string(thread) + "/" + std::to_string(i);
          const Answer answer =
              put(backend(), name, std::string(5000, 'x'), {}, stamp_of("k", 1 + i));
          // Others raise the same key, so some are stale: that is an answer too.
          if (answer.status == 201) {
            EXPECT_EQ(get(backend(), name).content.size(), 5000U);
          } else {
            EXPECT_EQ(answer.error_name(), "stale-token");
            EXPECT_EQ(get(backend(), name).error_name(), "not-found");
          }
        }
      });
    }
    threads.emplace_back([this] {
      auto other = foreign();
      for (int i = 0; i < kEach; ++i) {
        other.run("BEGIN IMMEDIATE; INSERT INTO documents(name, body) VALUES('f/" +
                  std::to_string(i) + "', 'x'); COMMIT");
      }
    });
  }
  EXPECT_EQ(foreign().value("SELECT count(*) FROM documents WHERE name GLOB 'f/*'"), "60");
  EXPECT_EQ(foreign().value("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(foreign().value("SELECT max(token) FROM fenceline_marks"), "60");
}

}  // namespace
}  // namespace fenceline::testing
