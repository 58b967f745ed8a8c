// Named statements: parameters in, rows out, one transaction, and what SQL may not do.

#include <boost/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/backends/sqlite/sqlite_fixture.h"

namespace fenceline::testing {
namespace {

using backends::StatementMode;

class SqliteStatementsTest : public SqliteBackendTest {
 protected:
  /// Why the statement is refused at the opening; empty if it is not.
  std::string refusal(StatementMode mode, const std::string& sql, const std::string& name = "s") {
    auto with = options();
    with.statements = {{name, mode, sql}};
    const auto opened = try_open(std::move(with));
    if (opened) {
      return {};
    }
    EXPECT_EQ(opened.error().kind, base::ErrorKind::kStorageFailed);
    EXPECT_NE(opened.error().detail.find('"' + name + '"'), std::string::npos);
    EXPECT_NE(opened.error().detail.find(database()), std::string::npos);
    return opened.error().detail;
  }

  void expect_refused(StatementMode mode, const std::string& sql, const std::string& part) {
    const std::string detail = refusal(mode, sql);
    EXPECT_NE(detail.find(part), std::string::npos) << sql << " gave: " << detail;
  }
};

TEST_F(SqliteStatementsTest, EveryTypeThereAndBack) {
  open_statements({{"get", "SELECT :n AS n, :i AS i, :r AS r, :t AS t, :b AS b"}});
  const Answer answer = post(backend(), "get",
                             R"({"n":null,"i":9007199254740993,"r":0.1,"t":"a\"\u0000\u00e4",)"
                             R"("b":{"base64":"AP8="}})");
  EXPECT_EQ(answer.status, 200) << (answer.error ? answer.error->detail : "");
  EXPECT_EQ(answer.field("Content-Type"), "application/json");
  EXPECT_EQ(
      answer.content,
      "{\"rows\":[{\"n\":null,\"i\":9007199254740993,\"r\":0.1,\"t\":\"a\\\"\\u0000\xc3\xa4\","
      "\"b\":{\"base64\":\"AP8=\"}}],\"changes\":0}");
}

TEST_F(SqliteStatementsTest, IntegersAreExactAndRealsStayReal) {
  given("CREATE TABLE t(i INTEGER, r REAL)");
  open_statements({{"add", "INSERT INTO t VALUES(:i, :r)"},
                   {"get", "SELECT i, r, typeof(i) AS ti, typeof(r) AS tr FROM t ORDER BY i"}});
  for (const char* digits : {"9223372036854775807", "-9223372036854775808"}) {
    EXPECT_EQ(post(backend(), "add", std::string(R"({"r":2.0,"i":)") + digits + "}").content,
              R"({"rows":[],"changes":1})");
  }
  EXPECT_EQ(post(backend(), "get", "").content,
            R"({"rows":[{"i":-9223372036854775808,"r":2.0,"ti":"integer","tr":"real"},)"
            R"({"i":9223372036854775807,"r":2.0,"ti":"integer","tr":"real"}],"changes":0})");
  open_statements({{"get", "SELECT 9e999 AS a, -9e999 AS b, 1e300 AS c, 9e999-9e999 AS d"}});
  EXPECT_EQ(post(backend(), "get", "{}").content,
            R"({"rows":[{"a":1e999,"b":-1e999,"c":1e+300,"d":null}],"changes":0})");
}

TEST_F(SqliteStatementsTest, ParametersThatDoNotFitAreNamed) {
  given("CREATE TABLE t(a, b)");
  open_statements({{"add", "INSERT INTO t VALUES(:a, $b); UPDATE t SET b=@b WHERE a=:a"}});
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"{}", {"misses", "\"a\", \"b\""}},
      {"", {"\"a\", \"b\""}},
      {R"({"a":1})", {"misses the parameter \"b\""}},
      {R"({"a":1,"b":2,"c":3,"d":4})", {"no parameter \"c\", \"d\""}},
      {R"({"a":1,"B":2})", {"misses the parameter \"b\"", "no parameter \"B\""}},
      {R"({"a":true,"b":2})", {"\"a\" is true or false"}},
      {R"({"a":1,"b":[2]})", {"\"b\" is an array"}},
      {R"({"a":1,"a":2,"b":3})", {"\"a\" is given twice"}},
      {"[1]", {"JSON object"}}};
  for (const auto& [body, parts] : cases) {
    const Answer answer = post(backend(), "add", body);
    ASSERT_EQ(answer.error_name(), "malformed-request") << body;
    EXPECT_EQ(answer.error->applied, base::Applied::kNo);
    for (const std::string& part : parts) {
      EXPECT_NE(answer.error->detail.find(part), std::string::npos) << answer.error->detail;
    }
  }
  EXPECT_EQ(foreign().value("SELECT count(*) FROM t"), "0");
  EXPECT_EQ(post(backend(), "add", R"({"a":1,"b":2})").content, R"({"rows":[],"changes":2})");
}

TEST_F(SqliteStatementsTest, ThePathBindsItsParts) {
  given("CREATE TABLE job(tenant TEXT, id TEXT, done INTEGER)");
  open_statements({{"finish", "INSERT INTO job VALUES(:tenant, :id, 1)"}});
  const Captures path = {{"tenant", "acme"}, {"statement", "finish"}};
  EXPECT_EQ(post(backend(), "acme/finish", R"({"id":"7"})", path).status, 200);
  EXPECT_EQ(foreign().value("SELECT tenant || id || done FROM job"), "acme71");
  // The fence is of acme, so nobody may write another tenant's data under it.
  const Answer twice = post(backend(), "acme/finish", R"({"id":"7","tenant":"other"})", path);
  EXPECT_EQ(twice.error_name(), "malformed-request");
  EXPECT_NE(twice.error->detail.find("\"tenant\""), std::string::npos);
  EXPECT_EQ(post(backend(), "acme/finish", R"({"id":"7","statement":"x"})", path).error_name(),
            "malformed-request");
  EXPECT_EQ(foreign().value("SELECT count(*) FROM job"), "1");
}

TEST_F(SqliteStatementsTest, UnknownStatementsAreNotFound) {
  open_statements({{"add", "SELECT 1"}});
  EXPECT_EQ(post(backend(), "sub", "{}").error_name(), "not-found");
  EXPECT_EQ(post(backend(), "add/more", "{}").error_name(), "not-found");
  EXPECT_EQ(post(backend(), "add", "{}", {}, {}, {{"If-Match", "*"}}).error_name(),
            "malformed-request");
  EXPECT_EQ(post(backend(), "add", "{}", {}, {}, {{"Content-Encoding", "gzip"}}).error_name(),
            "malformed-request");
}

TEST_F(SqliteStatementsTest, SeveralStatementsAreOneTransaction) {
  given("CREATE TABLE a(x); CREATE TABLE b(x UNIQUE); INSERT INTO b VALUES(1)");
  open_statements({{"both",
                    "INSERT INTO a VALUES(:x); INSERT INTO b VALUES(:x); SELECT x FROM a "
                    "-- the rows of the last one\n; /* and nothing more */ ;"}});
  EXPECT_EQ(post(backend(), "both", R"({"x":2})").content, R"({"rows":[{"x":2}],"changes":2})");
  const Answer failed = post(backend(), "both", R"({"x":1})");
  EXPECT_EQ(failed.error_name(), "constraint-failed");
  EXPECT_EQ(failed.error->applied, base::Applied::kNo);
  EXPECT_NE(failed.error->detail.find("UNIQUE constraint failed: b.x"), std::string::npos)
      << failed.error->detail;
  EXPECT_EQ(foreign().value("SELECT count(*) FROM a"), "1") << "the first one is undone";
}

TEST_F(SqliteStatementsTest, ConstraintsInEveryForm) {
  given(
      "CREATE TABLE parent(id INTEGER PRIMARY KEY);"
      "CREATE TABLE child(id REFERENCES parent DEFERRABLE INITIALLY DEFERRED, small INTEGER "
      "CHECK (small < 10), strict_one);"
      "CREATE TABLE typed(i INTEGER) STRICT;"
      "CREATE TRIGGER no BEFORE DELETE ON child BEGIN SELECT RAISE(ABORT, 'children stay'); END;"
      "INSERT INTO child VALUES(NULL, 1, 1);");
  open_statements({{"deferred", "INSERT INTO child VALUES(:x, 1, 1)"},
                   {"check", "INSERT INTO child VALUES(NULL, :x, 1)"},
                   {"typed", "INSERT INTO typed VALUES(:x)"},
                   {"raise", "DELETE FROM child"},
                   {"rollback", "INSERT OR ROLLBACK INTO child VALUES(NULL, :x, 1)"}});
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"deferred", "FOREIGN KEY constraint failed"},
      {"check", "CHECK constraint failed"},
      {"typed", "cannot store TEXT value in INTEGER column"},
      {"raise", "children stay"},
      {"rollback", "CHECK constraint failed"}};
  for (const auto& [name, words] : cases) {
    const Answer answer = post(backend(), name, name == "raise" ? "{}" : R"({"x":"77"})");
    const Answer text = name == "typed" ? post(backend(), name, R"({"x":"word"})") : answer;
    ASSERT_EQ(text.error_name(), "constraint-failed") << name;
    EXPECT_NE(text.error->detail.find(words), std::string::npos) << text.error->detail;
  }
  EXPECT_FALSE(backend().out_of_service());
  EXPECT_EQ(foreign().value("SELECT count(*) FROM child"), "1");
}

TEST_F(SqliteStatementsTest, ReadsNeedNoTokenAndSeeOneMoment) {
  given("CREATE TABLE t(x); INSERT INTO t VALUES(1), (2)");
  open_statements({{"get-all", "SELECT x FROM t WHERE x >= :least; SELECT count(*) AS n FROM t"},
                   {"add", "INSERT INTO t VALUES(:x) RETURNING x, x+1 AS next"}});
  base::RequestHead head;
  head.method = base::Method::kPost;
  for (const auto& [path, reads] : std::vector<std::pair<std::string, bool>>{{"/t/get-all", true},
                                                                             {"/t/get%2Dall", true},
                                                                             {"get-all", true},
                                                                             {"/t/add", false},
                                                                             {"/t/get-all/", false},
                                                                             {"/t/none", false},
                                                                             {"/t/get%2", false},
                                                                             {"", false}}) {
    head.path = path;
    EXPECT_EQ(backend().is_read(head), reads) << path;
  }
  EXPECT_EQ(backend().allowed_methods(), "GET, HEAD, PUT, DELETE, POST");
  EXPECT_EQ(post(backend(), "get-all", R"({"least":2})").content,
            R"({"rows":[{"n":2}],"changes":0})");
  EXPECT_EQ(post(backend(), "add", R"({"x":3})").content,
            R"({"rows":[{"x":3,"next":4}],"changes":1})");
  EXPECT_EQ(post(backend(), "get-all", "{}").error_name(), "malformed-request");
}

TEST_F(SqliteStatementsTest, BadSqlIsRefusedAtTheOpening) {
  given("CREATE TABLE t(x)");
  expect_refused(StatementMode::kWrite, "INSRT INTO t VALUES(1)", "syntax error");
  expect_refused(StatementMode::kWrite, "INSERT INTO none VALUES(1)", "no such table: none");
  expect_refused(StatementMode::kWrite, "SELECT 1; SELECT y FROM t", "no such column: y");
  expect_refused(StatementMode::kWrite, "", "no SQL");
  expect_refused(StatementMode::kWrite, " -- nothing", "no SQL");
  expect_refused(StatementMode::kWrite, "SELECT ?", "no plain name");
  expect_refused(StatementMode::kWrite, "SELECT ?7", "no plain name");
  expect_refused(StatementMode::kWrite, "SELECT $a::b", "no plain name");
  expect_refused(StatementMode::kWrite, "SELECT 1 AS a, 2 AS a", "named \"a\"");
  EXPECT_NE(refusal(StatementMode::kRead, "SELECT 1", "a/b"), "");
  EXPECT_NE(refusal(StatementMode::kRead, "SELECT 1", ".."), "");
  EXPECT_EQ(refusal(StatementMode::kRead, "SELECT 1", "a.b-c_D9"), "");
}

TEST_F(SqliteStatementsTest, AWriteInAReadStatementIsRefusedAtTheOpening) {
  given("CREATE TABLE t(x)");
  for (const char* sql :
       {"INSERT INTO t VALUES(1)", "SELECT 1; DELETE FROM t", "UPDATE t SET x=1 RETURNING x",
        "WITH c AS (SELECT 1 AS one) INSERT INTO t SELECT one FROM c",
        "REPLACE INTO t VALUES(1)"}) {
    expect_refused(StatementMode::kRead, sql, "its mode is read");
    EXPECT_EQ(refusal(StatementMode::kWrite, sql), "") << sql;
  }
  EXPECT_EQ(refusal(StatementMode::kRead, "WITH c(x) AS (VALUES(1)) SELECT x FROM c"), "");
}

TEST_F(SqliteStatementsTest, OnlyDataIsInReach) {
  given(
      "CREATE TABLE t(x); CREATE TABLE fenceline_marks(key TEXT NOT NULL PRIMARY KEY, token "
      "INTEGER "
      "NOT NULL) WITHOUT ROWID; CREATE VIEW peep AS SELECT * FROM fenceline_marks;"
      "CREATE TABLE trap(x); CREATE TRIGGER snap AFTER INSERT ON trap BEGIN DELETE FROM "
      "fenceline_marks; END;");
  for (const char* sql : {"BEGIN",
                          "COMMIT",
                          "ROLLBACK",
                          "END",
                          "SAVEPOINT a",
                          "RELEASE a",
                          "PRAGMA user_version",
                          "PRAGMA foreign_keys=OFF",
                          "ATTACH 'x.db' AS x",
                          "DETACH x",
                          "VACUUM",
                          "VACUUM INTO 'y.db'",
                          "CREATE TABLE n(x)",
                          "CREATE TEMP TABLE n(x)",
                          "DROP TABLE t",
                          "ALTER TABLE t ADD y",
                          "CREATE INDEX i ON t(x)",
                          "REINDEX",
                          "ANALYZE",
                          "EXPLAIN SELECT 1",
                          "EXPLAIN QUERY PLAN SELECT 1",
                          "SELECT * FROM pragma_table_info('t')",
                          "SELECT load_extension('x')",
                          "SELECT * FROM fenceline_marks",
                          "SELECT token FROM main.FENCELINE_MARKS",
                          "UPDATE fenceline_marks SET token=1",
                          "DELETE FROM fenceline_marks",
                          "INSERT INTO fenceline_marks VALUES('k', 1)",
                          "SELECT * FROM peep",
                          "INSERT INTO trap VALUES(1)",
                          "SELECT count(*) FROM fenceline_marks",
                          "INSERT INTO t SELECT token FROM fenceline_marks",
                          "DELETE FROM sqlite_schema",
                          "CREATE VIRTUAL TABLE v USING fts5(x)",
                          "SELECT 1; BEGIN"}) {
    EXPECT_NE(refusal(StatementMode::kWrite, sql), "") << sql;
  }
}

TEST_F(SqliteStatementsTest, AResultAboveTheLimitIsRefused) {
  given("CREATE TABLE t(x)");
  auto with = options();
  with.max_body_bytes = 1000;
  with.statements = {{"many", StatementMode::kWrite,
                      "INSERT INTO t VALUES(1); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT "
                      "x+1 FROM c WHERE x < 1000) SELECT x FROM c"}};
  open(std::move(with));
  const Answer answer = post(backend(), "many", "{}");
  EXPECT_EQ(answer.error_name(), "malformed-request");
  EXPECT_NE(answer.error->detail.find("1000 bytes"), std::string::npos);
  EXPECT_EQ(foreign().value("SELECT count(*) FROM t"), "0");
  EXPECT_EQ(post(backend(), "many", R"({"x":")" + std::string(1000, 'x') + "\"}").error_name(),
            "body-too-large");
}

TEST_F(SqliteStatementsTest, AStatementWithoutEndIsStopped) {
  given("CREATE TABLE t(x)");
  const std::string endless =
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) AS n FROM c";
  auto with = options();
  with.statement_timeout = base::Milliseconds{50};
  with.statements = {{"get", StatementMode::kRead, endless},
                     {"add", StatementMode::kWrite, "INSERT INTO t VALUES(1); " + endless}};
  open(std::move(with));
  for (const char* name : {"get", "add"}) {
    const Answer answer = post(backend(), name, "{}");
    EXPECT_EQ(answer.error_name(), "overloaded") << name;
    EXPECT_NE(answer.error->detail.find("took too long"), std::string::npos);
    EXPECT_EQ(answer.error->applied, base::Applied::kNo);
  }
  EXPECT_EQ(foreign().value("SELECT count(*) FROM t"), "0");
  EXPECT_FALSE(backend().out_of_service());
  EXPECT_EQ(put(backend(), "a", "x").status, 201);
}

TEST_F(SqliteStatementsTest, TheExportsOfTwoWorkers) {
  given(
      "CREATE TABLE export(tenant TEXT PRIMARY KEY, owner TEXT, lines INTEGER DEFAULT 0, done "
      "INTEGER DEFAULT 0); CREATE TABLE line(tenant TEXT, text TEXT);"
      "INSERT INTO export(tenant) VALUES('acme')");
  open_statements(
      {{"claim",
        "UPDATE export SET owner=:owner WHERE tenant=:tenant AND NOT done RETURNING lines"},
       {"append",
        "INSERT INTO line VALUES(:tenant, :text); UPDATE export SET lines=lines+1 WHERE "
        "tenant=:tenant"},
       {"finish", "UPDATE export SET done=1 WHERE tenant=:tenant"},
       {"get", "SELECT owner, lines, done FROM export WHERE tenant=:tenant"}});
  const Captures path = {{"tenant", "acme"}};
  const base::Stamp old = stamp_of("exports/acme", 33);
  const base::Stamp now = stamp_of("exports/acme", 34);
  post(backend(), "acme/claim", R"({"owner":"A"})", path, old);
  post(backend(), "acme/append", R"({"text":"one"})", path, old);
  // A is paused; B takes over and goes on where A stopped.
  EXPECT_EQ(post(backend(), "acme/claim", R"({"owner":"B"})", path, now).content,
            R"({"rows":[{"lines":1}],"changes":1})");
  const Answer zombie = post(backend(), "acme/append", R"({"text":"two"})", path, old);
  EXPECT_EQ(zombie.error_name(), "stale-token");
  EXPECT_EQ(zombie.error->store_mark, 34);
  EXPECT_EQ(post(backend(), "acme/finish", "", path, now).status, 200);
  EXPECT_EQ(post(backend(), "acme/get", "", path).content,
            R"({"rows":[{"owner":"B","lines":1,"done":1}],"changes":0})");
}

}  // namespace
}  // namespace fenceline::testing
