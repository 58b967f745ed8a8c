// Writes that take effect once: the answer is kept in the transaction of the effect.

#include <string>

#include "tests/backends/sqlite/sqlite_fixture.h"

namespace fenceline::testing {
namespace {

constexpr const char* kAdd = "INSERT INTO t(name) VALUES(:name) RETURNING id";

class SqliteAnswersTest : public SqliteBackendTest {
 protected:
  void SetUp() override {
    given("CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT UNIQUE)");
    reopen();
  }

  void reopen() {
    auto with = options();
    with.keeps_answers = true;
    with.statements = {{"add", backends::StatementMode::kWrite, kAdd},
                       {"all", backends::StatementMode::kWrite,
                        "SELECT replace(hex(zeroblob(200000)), '00', :name) AS big; "
                        "INSERT INTO t(name) VALUES(:name)"}};
    open(std::move(with));
  }

  Answer add(const std::string& name, const std::string& key, std::int64_t token = 1,
             const std::string& print = "", const std::string& statement = "add") {
    return post_once(backend(), statement, R"({"name":")" + name + "\"}",
                     {.key = key, .print = print.empty() ? name : print, .ttl = kTtl},
                     {.key = "fence", .token = base::Token::of(token), .request_id = "r"});
  }

  static constexpr base::Milliseconds kTtl{60'000};
};

TEST_F(SqliteAnswersTest, ARepeatedStatementGivesTheSameRowsAndDoesNothing) {
  EXPECT_TRUE(backend().commits_once());
  const Answer first = add("a", "k");
  EXPECT_EQ(first.status, 200) << (first.error ? first.error->detail : "");
  EXPECT_EQ(first.content, R"({"rows":[{"id":1}],"changes":1})");
  EXPECT_EQ(first.field("Idempotency-Replayed"), "");
  const Answer second = add("a", "k");
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.content, first.content);
  EXPECT_EQ(second.field("Content-Type"), first.field("Content-Type"));
  EXPECT_EQ(second.field("Idempotency-Replayed"), "true");
  EXPECT_EQ(foreign().value("SELECT count(*) FROM t"), "1");
  // Without a key it is another request.
  EXPECT_EQ(add("b", "l").content, R"({"rows":[{"id":2}],"changes":1})");
}

TEST_F(SqliteAnswersTest, SurvivesTheEndOfTheProcess) {
  const Answer first = add("a", "k");
  reopen();
  EXPECT_EQ(add("a", "k").content, first.content);
  EXPECT_EQ(foreign().value("SELECT count(*) FROM t"), "1");
}

TEST_F(SqliteAnswersTest, AnotherRequestWithTheKeyIsRefused) {
  add("a", "k");
  const Answer other = add("b", "k");
  ASSERT_TRUE(other.error);
  EXPECT_EQ(other.error->kind, base::ErrorKind::kIdempotencyReused);
  EXPECT_EQ(other.error->applied, base::Applied::kNo);
  EXPECT_EQ(foreign().value("SELECT count(*) FROM t"), "1");
}

TEST_F(SqliteAnswersTest, AStaleTokenIsRefusedBeforeAnyReplay) {
  add("a", "k", 1);
  add("b", "l", 2);
  const Answer stale = add("a", "k", 1);
  ASSERT_TRUE(stale.error);
  EXPECT_EQ(stale.error->kind, base::ErrorKind::kStaleToken);
  EXPECT_EQ(add("a", "k", 3).field("Idempotency-Replayed"), "true");
}

TEST_F(SqliteAnswersTest, ARefusalIsNotKept) {
  add("a", "k");
  const Answer refused = add("a", "l", 1, "print");
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->kind, base::ErrorKind::kConstraintFailed);
  foreign().run("DELETE FROM t");
  EXPECT_EQ(add("a", "l", 1, "print").status, 200);
}

TEST_F(SqliteAnswersTest, AnAnswerThatCannotBeKeptUndoesTheEffect) {
  const Answer big = add("xxxx", "k", 1, "", "all");
  ASSERT_TRUE(big.error);
  EXPECT_EQ(big.error->kind, base::ErrorKind::kBodyTooLarge);
  EXPECT_EQ(big.error->applied, base::Applied::kNo);
  EXPECT_EQ(foreign().value("SELECT count(*) FROM t"), "0");
  EXPECT_EQ(add("small", "k").status, 200);
}

TEST_F(SqliteAnswersTest, StatementsDoNotReachTheTable) {
  auto with = options();
  with.keeps_answers = true;
  with.statements = {{"s", backends::StatementMode::kWrite, "DELETE FROM Fenceline_Answers"}};
  const auto opened = try_open(std::move(with));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, base::ErrorKind::kStorageFailed);
}

TEST_F(SqliteAnswersTest, ATableOfAnotherShapeIsNamed) {
  close();
  foreign().run("DROP TABLE fenceline_answers");
  foreign().run("CREATE TABLE fenceline_answers(due INTEGER)");
  auto with = options();
  with.keeps_answers = true;
  const auto opened = try_open(std::move(with));
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().detail.find("fenceline_answers"), std::string::npos);
  EXPECT_NE(opened.error().detail.find(database()), std::string::npos);
}

TEST_F(SqliteAnswersTest, WhereItIsNotAskedForThereIsNoTable) {
  close();
  foreign().run("DROP TABLE fenceline_answers");
  open();
  EXPECT_FALSE(backend().commits_once());
  EXPECT_EQ(foreign().value("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%answers%'"), "0");
}

}  // namespace
}  // namespace fenceline::testing
