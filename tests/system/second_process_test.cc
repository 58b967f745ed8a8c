// A second process on the same data: refused, and the first one does not notice.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;

std::string config(const std::string& root, const std::string& ledger) {
  return fmt::format(R"(
listen: 127.0.0.1:0
ledger: {{sqlite: {}}}
routes:
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    files: {{root: {}, sync: full}}
)",
                     ledger, root);
}

class SecondProcessTest : public ::testing::Test {
 protected:
  /// Starts a second server, which must refuse, and returns its log.
  std::string refusal(const std::string& text) {
    ServerProcess second(ServerProcess::NoWait{}, folder_.path().string(), text);
    EXPECT_EQ(second.wait(), 1) << second.log();
    EXPECT_EQ(second.log().find(" serving: "), std::string::npos);
    return second.log();
  }

  void expect_first_serves() {
    EXPECT_EQ(first_.put("/exports/acme/report.csv", ++token_, "still here").status / 100, 2);
    EXPECT_EQ(first_.content("/exports/acme/report.csv"), "still here");
    expect_fenced(first_.put("/exports/acme/report.csv", 33, "late"), 33, token_);
  }

  FilesServer first_;
  TempFolder folder_;
  std::int64_t token_ = 33;
};

TEST_F(SecondProcessTest, OnTheSameRoot) {
  // What the first one is staging must survive the attempt: the sweep is only for the owner.
  HalfUpload upload(first_, "/exports/acme/large.bin", 33, std::string(1 << 20, 'x'));
  const std::string log = refusal(config(first_.at("exports"), folder_.at("ledger.db")));
  EXPECT_THAT(log, HasSubstr(first_.at("exports")));
  EXPECT_THAT(log, HasSubstr("is in use"));
  EXPECT_EQ(upload.finish().status, 201);
  expect_first_serves();
}

TEST_F(SecondProcessTest, OnTheSameLedger) {
  const std::string log = refusal(config(folder_.at("root"), first_.at("ledger.db")));
  EXPECT_THAT(log, HasSubstr(first_.at("ledger.db")));
  EXPECT_THAT(log, HasSubstr("in use by another process"));
  EXPECT_THAT(log, HasSubstr(std::to_string(first_.process().pid())));
  expect_first_serves();
}

TEST_F(SecondProcessTest, OnTheSamePort) {
  const std::string port = std::to_string(first_.process().port());
  std::string text = config(folder_.at("root"), folder_.at("ledger.db"));
  text.replace(text.find("127.0.0.1:0"), 11, "127.0.0.1:" + port);
  EXPECT_THAT(refusal(text), HasSubstr("port " + port + ": Address already in use"));
  expect_first_serves();
}

TEST(SecondProcessOnADatabaseTest, IsRefused) {
  const auto text = [](const std::string& database, const std::string& ledger) {
    return fmt::format(R"(
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: {}}}
routes:
  - {{name: exports, match: "/exports/{{tenant}}/{{path...}}", fence: "exports/{{tenant}}",
     sqlite: {{database: {}}}}}
)",
                       ledger, database);
  };
  FilesServer first(text("data.db", "ledger.db"));
  EXPECT_EQ(first.put("/exports/acme/a", 33, "one").status, 201);
  const TempFolder folder;
  ServerProcess second(ServerProcess::NoWait{}, folder.path().string(),
                       text(first.at("data.db"), folder.at("ledger.db")));
  EXPECT_EQ(second.wait(), 1) << second.log();
  EXPECT_THAT(second.log(), HasSubstr(first.at("data.db")));
  EXPECT_THAT(second.log(), HasSubstr("in use"));
  EXPECT_THAT(second.log(), ::testing::Not(HasSubstr(" serving: ")));
  EXPECT_EQ(first.put("/exports/acme/a", 34, "two").status, 204);
  expect_fenced(first.put("/exports/acme/a", 33, "late"), 33, 34);
  EXPECT_EQ(first.content("/exports/acme/a"), "two");

  first.kill();
  ServerProcess third(folder.path().string(), text(first.at("data.db"), folder.at("ledger.db")));
  RawClient client(third.port());
  expect_fenced(client.exchange(fenced_put("/exports/acme/a", 33, "late")), 33, 34);
}

TEST_F(SecondProcessTest, TakesOverAfterAKill) {
  EXPECT_EQ(first_.put("/exports/acme/report.csv", 34, "of the first").status, 201);
  first_.process().kill_hard();
  ServerProcess second(folder_.path().string(),
                       config(first_.at("exports"), first_.at("ledger.db")));
  RawClient client(second.port());
  expect_fenced(client.exchange(fenced_put("/exports/acme/report.csv", 33, "late")), 33, 34);
  EXPECT_EQ(client.exchange(fenced_put("/exports/acme/report.csv", 34, "next")).status, 204);
}

}  // namespace
}  // namespace fenceline::testing
