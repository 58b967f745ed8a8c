// The story that fenceline began with: two workers export per tenant by SQL statements, `claim`,
// `append`, `finish`. Worker A has the lease with token 33, is paused, and wakes up after worker B
// has taken over with 34. Then a third process writes the same database by the rules of
// docs/sqlite.md.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Rows = std::vector<std::string>;

constexpr std::string_view kKey = "exports/acme";

constexpr std::string_view kConfig = R"(
listen: 127.0.0.1:0
admin: {listen: 127.0.0.1:0}
ledger: {sqlite: ledger.db}
routes:
  - name: work
    match: /work/{tenant}/{statement}
    fence: exports/{tenant}
    sqlite:
      database: work.db
      table: none
      statements:
        claim: "UPDATE export SET owner=:owner WHERE tenant=:tenant AND NOT done RETURNING lines"
        append: >-
          INSERT INTO line(tenant, worker, text) VALUES(:tenant, :worker, :text);
          UPDATE export SET lines=lines+1 WHERE tenant=:tenant
        finish: "UPDATE export SET done=1 WHERE tenant=:tenant AND lines=:lines"
        state: {mode: read, sql: "SELECT owner, lines, done FROM export WHERE tenant=:tenant"}
  - name: exports
    match: /exports/{tenant}/{path...}
    fence: exports/{tenant}
    files: {root: exports}
)";

/// A connection of our own to the database, as another process would have it.
class Database {
 public:
  explicit Database(const std::string& file) {
    if (sqlite3_open(file.c_str(), &handle_) != SQLITE_OK) {
      throw std::runtime_error("cannot open " + file);
    }
    sqlite3_busy_timeout(handle_, 20'000);
    // The rules of docs/sqlite.md: never checkpoint, and commit durably.
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    rows("PRAGMA wal_autocheckpoint=0");
    rows("PRAGMA synchronous=FULL");
  }
  ~Database() { sqlite3_close(handle_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs all of `sql`; gives each row as its columns, separated by blanks.
  Rows rows(const std::string& sql) {
    Rows found;
    const auto add = [](void* into, int count, char** values, char** /*names*/) {
      std::string row;
      for (int i = 0; i < count; ++i) {
        row += (i > 0 ? " " : "") + std::string(values[i] == nullptr ? "NULL" : values[i]);
      }
      static_cast<Rows*>(into)->push_back(row);
      return 0;
    };
    if (sqlite3_exec(handle_, sql.c_str(), add, &found, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sql + ": " + sqlite3_errmsg(handle_));
    }
    return found;
  }

  /// The transaction of docs/sqlite.md, word for word. False if somebody newer holds the lease.
  bool write_as(std::int64_t token, const std::string& update) {
    rows("BEGIN IMMEDIATE");
    rows(
        fmt::format("INSERT INTO fenceline_marks(key, token) VALUES('{}', {}) "
                    "ON CONFLICT(key) DO UPDATE SET token = excluded.token "
                    "WHERE excluded.token > token",
                    kKey, token));
    if (rows(fmt::format("SELECT token > {} FROM fenceline_marks WHERE key = '{}'", token, kKey)) !=
        Rows{"0"}) {
      rows("ROLLBACK");
      return false;
    }
    rows(update);
    rows("COMMIT");
    return true;
  }

 private:
  sqlite3* handle_ = nullptr;
};

class StatementsStoryTest : public ::testing::Test {
 protected:
  StatementsStoryTest() : server_(std::string(kConfig), FilesServer::Stopped{}) {
    Database database(server_.at("work.db"));
    database.rows(
        "CREATE TABLE export(tenant TEXT PRIMARY KEY, owner TEXT, lines INTEGER NOT NULL DEFAULT 0,"
        " done INTEGER NOT NULL DEFAULT 0);"
        "CREATE TABLE line(tenant TEXT, worker TEXT, text TEXT);"
        "INSERT INTO export(tenant) VALUES('acme'), ('beta')");
    server_.restart();
  }

  Rows rows(const std::string& sql) { return Database(server_.at("work.db")).rows(sql); }

  static std::string request(std::string_view tenant, std::string_view statement,
                             std::int64_t token, std::string_view parameters) {
    return fenced_request("POST", fmt::format("/work/{}/{}", tenant, statement), token,
                          fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n",
                                      parameters.size())) +
           std::string(parameters);
  }

  Response call(std::string_view tenant, std::string_view statement, std::int64_t token,
                std::string_view parameters) {
    RawClient client(server_.process().port());
    return client.exchange(request(tenant, statement, token, parameters));
  }

  static std::string line(std::string_view worker, std::string_view text) {
    return fmt::format(R"({{"worker":"{}","text":"{}"}})", worker, text);
  }

  /// A has claimed both tenants and written a line for each.
  void a_begins() {
    for (const char* tenant : {"acme", "beta"}) {
      const Response claimed = call(tenant, "claim", 33, R"({"owner":"A"})");
      EXPECT_EQ(claimed.status, 200) << claimed.body;
      EXPECT_EQ(claimed.body, "{\"rows\":[{\"lines\":0}],\"changes\":1}");
      EXPECT_EQ(call(tenant, "append", 33, line("A", "one")).status, 200);
    }
  }

  /// Takes acme over from A.
  void b_takes_over() {
    const Response claimed = call("acme", "claim", 34, R"({"owner":"B"})");
    EXPECT_EQ(claimed.status, 200) << claimed.body;
    EXPECT_EQ(claimed.body, "{\"rows\":[{\"lines\":1}],\"changes\":1}");
  }

  void fences(std::vector<std::string> arguments) {
    const char* binary = std::getenv("FENCELINE_BINARY");
    arguments.insert(arguments.begin(),
                     {binary == nullptr ? "FENCELINE_BINARY?" : binary, "fences"});
    arguments.emplace_back("--admin");
    arguments.push_back(fmt::format("http://127.0.0.1:{}", server_.process().admin_port()));
    ChildProcess command(arguments, server_.at("output"));
    EXPECT_EQ(command.wait(), 0) << command.output();
  }

  FilesServer server_;
};

TEST_F(StatementsStoryTest, NothingOfAPausedWorkerComesAfterTheTakeover) {
  a_begins();
  const std::string half_sent = request("acme", "append", 33, line("A", "two"));
  RawClient a(server_.process().port());
  a.send(std::string_view(half_sent).substr(0, half_sent.size() - 5));
  wait_until("the half of A's statement",
             [&] { return server_.metric("fenceline_staged_bytes") > 0; });
  b_takes_over();

  expect_fenced(a.exchange(std::string_view(half_sent).substr(half_sent.size() - 5)), 33, 34);
  expect_fenced(call("acme", "append", 33, line("A", "three")), 33, 34);
  expect_fenced(call("acme", "finish", 33, R"({"lines":1})"), 33, 34);
  expect_fenced(call("acme", "claim", 33, R"({"owner":"A"})"), 33, 34);
  expect_fenced(call("acme", "state", 33, "{}"), 33, 34);
  EXPECT_THAT(rows("SELECT * FROM line WHERE tenant='acme'"), ElementsAre("acme A one"));

  EXPECT_EQ(call("acme", "append", 34, line("B", "two")).status, 200);
  EXPECT_EQ(call("acme", "finish", 34, R"({"lines":2})").body, "{\"rows\":[],\"changes\":1}");
  expect_fenced(call("acme", "append", 33, line("A", "four")), 33, 34);
  EXPECT_THAT(rows("SELECT * FROM line WHERE tenant='acme' ORDER BY rowid"),
              ElementsAre("acme A one", "acme B two"));
  EXPECT_THAT(rows("SELECT * FROM export ORDER BY tenant"),
              ElementsAre("acme B 2 1", "beta A 1 0"));
  EXPECT_THAT(rows("SELECT * FROM fenceline_marks ORDER BY key"),
              ElementsAre("exports/acme 34", "exports/beta 33"));

  EXPECT_EQ(call("beta", "append", 33, line("A", "two")).status, 200) << "another tenant";
  EXPECT_EQ(call("acme", "state", 0, "{}").body,
            "{\"rows\":[{\"owner\":\"B\",\"lines\":2,\"done\":1}],\"changes\":0}");
}

TEST_F(StatementsStoryTest, ATenantOfThePathCannotBeAnotherInTheBody) {
  const Response answer = call("beta", "claim", 33, R"({"owner":"A","tenant":"acme"})");
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("tenant"));
  EXPECT_THAT(rows("SELECT count(*) FROM export WHERE owner IS NOT NULL"), ElementsAre("0"));
}

TEST_F(StatementsStoryTest, AFilesRouteOfTheSameFenceRefusesAAtOnce) {
  a_begins();
  EXPECT_EQ(server_.put("/exports/acme/report.csv", 33, "of A").status, 201);
  b_takes_over();
  RawClient a(server_.process().port());
  expect_fenced(a.exchange(fenced_request("PUT", "/exports/acme/report.csv", 33,
                                          "Content-Length: 1000000\r\nExpect: 100-continue\r\n")),
                33, 34);
  EXPECT_EQ(server_.content("/exports/acme/report.csv"), "of A");
  EXPECT_EQ(server_.put("/exports/beta/report.csv", 33, "of A").status, 201);

  EXPECT_EQ(server_.put("/exports/acme/report.csv", 35, "of C").status, 204);
  expect_fenced(call("acme", "append", 34, line("B", "two")), 34, 35);
  server_.kill_and_restart();
  expect_fenced(call("acme", "append", 34, line("B", "two")), 34, 35);
  EXPECT_THAT(rows("SELECT * FROM line WHERE tenant='acme'"), ElementsAre("acme A one"));
}

TEST_F(StatementsStoryTest, AnotherProcessThatFollowsTheMarksIsFencedAndFences) {
  a_begins();
  b_takes_over();
  Database other(server_.at("work.db"));
  EXPECT_FALSE(other.write_as(33, "UPDATE export SET owner='other' WHERE tenant='acme'"));
  EXPECT_TRUE(other.write_as(34, "UPDATE export SET lines=lines+1 WHERE tenant='acme'"));
  EXPECT_EQ(call("acme", "append", 34, line("B", "two")).status, 200);

  EXPECT_TRUE(other.write_as(40, "UPDATE export SET owner='other' WHERE tenant='acme'"));
  expect_fenced(call("acme", "append", 34, line("B", "three")), 34, 40);
  EXPECT_THAT(rows("SELECT owner, lines FROM export WHERE tenant='acme'"), ElementsAre("other 3"));
  expect_fenced(server_.put("/exports/acme/report.csv", 34, "of B"), 34, 40);
  wait_until("the mark to be in the ledger", [&] { return server_.mark(kKey) == 40; });
  server_.kill_and_restart();
  expect_fenced(server_.put("/exports/acme/report.csv", 34, "of B"), 34, 40);
  EXPECT_EQ(call("acme", "append", 40, line("C", "three")).status, 200);

  EXPECT_TRUE(other.write_as(41, "UPDATE export SET owner='other' WHERE tenant='acme'"));
  expect_fenced(call("acme", "state", 40, "{}"), 40, 41);
}

TEST_F(StatementsStoryTest, AResetSetsBothMarksBack) {
  a_begins();
  b_takes_over();
  Database other(server_.at("work.db"));
  EXPECT_TRUE(other.write_as(1000, "UPDATE export SET owner='other' WHERE tenant='acme'"));
  expect_fenced(call("acme", "claim", 35, R"({"owner":"B"})"), 35, 1000);

  fences({"reset", std::string(kKey), "--to", "5", "--reason", "the source was restored"});
  EXPECT_EQ(server_.mark(kKey), 5);
  EXPECT_THAT(rows("SELECT token FROM fenceline_marks WHERE key='exports/acme'"), ElementsAre("5"));
  EXPECT_EQ(call("acme", "claim", 6, R"({"owner":"B"})").status, 200);
  EXPECT_EQ(server_.put("/exports/acme/report.csv", 6, "of B").status, 201);
  expect_fenced(call("acme", "claim", 5, R"({"owner":"A"})"), 5, 6);
  EXPECT_FALSE(other.write_as(5, "UPDATE export SET owner='other' WHERE tenant='acme'"));
  EXPECT_EQ(server_.mark("exports/beta"), 33);
}

}  // namespace
}  // namespace fenceline::testing
