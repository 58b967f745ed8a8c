// Writes that may still take effect: the real command against the real server, which finds them in
// its ledger.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/temp_folder.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class UnsettledCommandTest : public ::testing::Test {
 protected:
  /// The server was killed: these are on record when it starts again.
  void plant(const std::string& values) {
    server_.kill();
    sqlite3* database = nullptr;
    int code = sqlite3_open(server_.at("ledger.db").c_str(), &database);
    if (code == SQLITE_OK) {
      const std::string sql = "INSERT INTO intents (key, token, route, data) VALUES " + values;
      code = sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr);
    }
    sqlite3_close(database);
    if (code != SQLITE_OK) {
      throw std::runtime_error(std::string("cannot plant: ") + sqlite3_errstr(code));
    }
    server_.restart();
  }

  int fences(std::vector<std::string> arguments) {
    const char* binary = std::getenv("FENCELINE_BINARY");
    arguments.insert(arguments.begin(), {binary == nullptr ? "FENCELINE_BINARY?" : binary});
    arguments.insert(arguments.begin() + 1, "fences");
    arguments.push_back("--admin");
    arguments.push_back(fmt::format("http://127.0.0.1:{}", server_.process().admin_port()));
    ChildProcess process(arguments, folder_.at("output"));
    const int code = process.wait();
    output_ = process.output();
    return code;
  }

  FilesServer server_{FilesServer::two_routes("none")};
  TempFolder folder_;
  std::string output_;
};

TEST_F(UnsettledCommandTest, ListsAndSettlesThem) {
  EXPECT_EQ(fences({"unsettled"}), 0) << output_;
  EXPECT_EQ(output_, "KEY  TOKEN  ROUTE  AGE  DATA\n");
  EXPECT_EQ(fences({"settle", "orders/a b", "--reason", "r"}), 3);
  EXPECT_THAT(output_, HasSubstr("No write of the key 'orders/a b' is unsettled"));
  plant(
      "('orders/a b', 7, 'orders', 'PUT /x'), ('orders/a b', 8, 'orders', ''), "
      "('zeta', 1, 'orders', '')");
  EXPECT_THAT(server_.process().log(), HasSubstr("unsettled_writes"));
  EXPECT_EQ(server_.metric("fenceline_unsettled_writes"), 3);
  EXPECT_EQ(fences({"unsettled", "--prefix", "orders/"}), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("orders/a b  7      orders"));
  EXPECT_THAT(output_, HasSubstr("PUT /x\n"));
  EXPECT_THAT(output_, Not(HasSubstr("zeta")));
  EXPECT_EQ(fences({"unsettled", "--limit", "1", "--json"}), 0);
  EXPECT_THAT(output_, HasSubstr(R"("data":"PUT /x","age_ms":)"));
  EXPECT_THAT(output_, HasSubstr(R"("next":"7\norders\nPUT /x\norders/a b")"));

  EXPECT_EQ(fences({"settle", "orders/a b", "--token", "9", "--reason", "r"}), 3);
  EXPECT_EQ(fences({"settle", "orders/a b", "--token", "7"}), 2) << "no reason";
  EXPECT_EQ(fences({"settle", "orders/a b", "--token", "07", "--reason", "r"}), 2);
  EXPECT_EQ(fences({"settle", "orders/a b", "--token", "7", "--reason", "it was 'restarted'"}), 0)
      << output_;
  EXPECT_THAT(output_, HasSubstr("orders/a b: the write with token 7 on route orders is settled"));
  EXPECT_THAT(server_.process().log(), HasSubstr("write_settled"));
  EXPECT_THAT(server_.process().log(), HasSubstr("it was 'restarted'"));
  EXPECT_EQ(fences({"settle", "orders/a b", "--token", "7", "--reason", "r"}), 3) << "once";
  EXPECT_EQ(server_.metric("fenceline_unsettled_writes"), 2);

  server_.kill_and_restart();
  EXPECT_EQ(fences({"unsettled"}), 0);
  EXPECT_THAT(output_, Not(HasSubstr("PUT /x"))) << "it is off the record for good";
  EXPECT_THAT(output_, HasSubstr("zeta"));
  EXPECT_EQ(fences({"settle", "zeta", "--reason", "r"}), 0) << "all tokens of the key";
  EXPECT_EQ(fences({"settle", "orders/a b", "--reason", "r", "--json"}), 0);
  EXPECT_THAT(output_, HasSubstr(R"({"key":"orders/a b","settled":[{"token":"8")"));
  EXPECT_EQ(server_.metric("fenceline_unsettled_writes"), 0);
}

TEST_F(UnsettledCommandTest, PagesThroughMoreThanOneAnswerHolds) {
  std::string values;
  for (int i = 0; i < 2'100; ++i) {
    // Many under one key and token too, so that a page ends between them.
    values += fmt::format("{}('{}', 5, 'orders', 'PUT /{:04}')", i == 0 ? "" : ", ",
                          i < 1'500 ? "a key" : fmt::format("b{:04}", i), i);
  }
  plant(values);
  EXPECT_EQ(fences({"unsettled", "--limit", "0", "--json"}), 0);
  std::size_t at = 0;
  for (int i = 0; i < 2'100 && at != std::string::npos; ++i) {
    at = output_.find(fmt::format("\"data\":\"PUT /{:04}\"", i), at);
    EXPECT_NE(at, std::string::npos) << i << " is missing or not in its order";
  }
  EXPECT_THAT(output_, Not(HasSubstr("\"next\"")));
  EXPECT_EQ(fences({"unsettled", "--limit", "1"}), 0);
  EXPECT_THAT(output_, HasSubstr("there are more: --limit 0"));
  EXPECT_EQ(server_.admin("/v1/unsettled?after=nowhere").status, 400);
}

TEST_F(UnsettledCommandTest, AFenceIsNotResetMeanwhileAndShowsThem) {
  EXPECT_EQ(server_.put("/exports/acme/a", 100, "x").status, 201);
  plant("('exports/acme', 99, 'gone', '')");
  EXPECT_EQ(fences({"show", "exports/acme"}), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("unsettled  99"));
  EXPECT_EQ(fences({"reset", "exports/acme", "--to", "5", "--reason", "r"}), 3);
  EXPECT_THAT(output_, HasSubstr("Earlier writes may still take effect (token 99)"));
  EXPECT_EQ(server_.mark("exports/acme"), 100);
  EXPECT_EQ(fences({"settle", "exports/acme", "--reason", "r"}), 0) << output_;
  EXPECT_EQ(fences({"reset", "exports/acme", "--to", "5", "--reason", "r"}), 0) << output_;
}

TEST_F(UnsettledCommandTest, TheAdminApiTakesOnlyOrdersOnAKey) {
  EXPECT_EQ(server_.admin("/v1/unsettled").body, "{\"unsettled\":[]}\n");
  EXPECT_EQ(server_.admin("/v1/unsettled/a").status, 405);
  EXPECT_EQ(server_.admin("/v1/unsettled?limit=0").status, 400);
}

}  // namespace
}  // namespace fenceline::testing
