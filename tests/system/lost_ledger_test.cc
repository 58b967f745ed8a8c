// A ledger that was lost or exchanged: a forgotten mark is an open gate, so nothing is served until
// the operator has decided.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/child_process.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kPath = "/exports/acme/report.csv";

class LostLedgerTest : public ::testing::Test {
 protected:
  LostLedgerTest() {
    ServerProcess server(folder_.path().string(), config("root", "ledger.db"));
    EXPECT_THAT(server.log(), HasSubstr("new_ledger"));
    EXPECT_EQ(ask(server, 5, "of five"), 201);
    EXPECT_EQ(server.stop(), 0);
  }

  [[nodiscard]] std::string config(const std::string& root, const std::string& ledger) const {
    return fmt::format(R"(
listen: 127.0.0.1:0
ledger: {{sqlite: {}}}
routes:
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    files: {{root: {}}}
)",
                       folder_.at(ledger), folder_.at(root));
  }

  static int ask(ServerProcess& server, std::int64_t token, std::string_view content) {
    RawClient client(server.port());
    return client.exchange(fenced_put(kPath, token, content)).status;
  }

  /// Starts a server, which must refuse to serve `root`, and returns its log.
  std::string refusal(const std::string& root, const std::string& ledger) {
    ServerProcess server(ServerProcess::NoWait{}, folder_.path().string(), config(root, ledger));
    EXPECT_EQ(server.wait(), 1) << server.log();
    EXPECT_THAT(server.log(), Not(HasSubstr(" serving: ")));
    EXPECT_THAT(server.log(), HasSubstr("route exports: "));
    EXPECT_THAT(server.log(), HasSubstr(folder_.at(root)));
    EXPECT_THAT(server.log(), HasSubstr("were fenced by the ledger"));
    EXPECT_THAT(server.log(), HasSubstr(folder_.at(root) + "/.fenceline/ledger"));
    return server.log();
  }

  /// Moves every file of the ledger `from`; what was at `to` is gone.
  void move_ledger(const std::string& from, const std::string& to) {
    for (const char* suffix : {"", "-wal", ".lock"}) {
      fs::remove(folder_.at(to + suffix));
      if (fs::exists(folder_.at(from + suffix))) {
        fs::rename(folder_.at(from + suffix), folder_.at(to + suffix));
      }
    }
  }

  void expect_marks_are_known() {
    ServerProcess server(folder_.path().string(), config("root", "ledger.db"));
    EXPECT_THAT(server.log(), Not(HasSubstr("new_ledger")));
    EXPECT_EQ(ask(server, 2, "late"), 412);
    EXPECT_EQ(contents_of(folder_.at("root/acme/report.csv")), "of five");
    EXPECT_EQ(ask(server, 5, "of five, again"), 204);
  }

  TempFolder folder_;
};

TEST_F(LostLedgerTest, IsNoticedUntilItIsRestored) {
  move_ledger("ledger.db", "backup.db");
  refusal("root", "ledger.db");
  // The first attempt made a new ledger; that changes nothing.
  refusal("root", "ledger.db");
  EXPECT_EQ(contents_of(folder_.at("root/acme/report.csv")), "of five");
  move_ledger("backup.db", "ledger.db");
  expect_marks_are_known();
}

TEST_F(LostLedgerTest, ACopyOfItIsAsGood) {
  fs::copy_file(folder_.at("ledger.db"), folder_.at("backup.db"));
  fs::remove(folder_.at("ledger.db"));
  refusal("root", "ledger.db");
  move_ledger("backup.db", "ledger.db");
  expect_marks_are_known();
}

TEST_F(LostLedgerTest, ARootThatWasCopiedRemembersItsLedger) {
  fs::copy(folder_.at("root"), folder_.at("copy"), fs::copy_options::recursive);
  refusal("copy", "other.db");
  expect_marks_are_known();
}

TEST_F(LostLedgerTest, TheOperatorMayStartWithoutMarksAndIsWarned) {
  move_ledger("ledger.db", "backup.db");
  refusal("root", "ledger.db");
  fs::remove(folder_.at("root/.fenceline/ledger"));
  {
    ServerProcess server(folder_.path().string(), config("root", "ledger.db"));
    EXPECT_THAT(server.log(),
                HasSubstr("warning new_ledger: no marks are known: every token passes "
                          "once ledger=" +
                          folder_.at("ledger.db")));
    EXPECT_EQ(ask(server, 2, "of two"), 204);
    EXPECT_EQ(ask(server, 1, "late"), 412);
    EXPECT_EQ(server.stop(), 0);
  }
  // From now on the old ledger is the wrong one.
  refusal("root", "backup.db");
}

TEST_F(LostLedgerTest, DeletedUnderARunningServerItMustComeBackFirst) {
  fs::copy_file(folder_.at("ledger.db"), folder_.at("backup.db"));
  ServerProcess server(folder_.path().string(), config("root", "ledger.db"));
  fs::remove(folder_.at("ledger.db"));
  EXPECT_EQ(ask(server, 6, "of six"), 503);
  EXPECT_THAT(server.log(), HasSubstr("restore the ledger file first, then restart"));
}

TEST_F(LostLedgerTest, ARootInsideTheRootOfAnotherServerIsRefused) {
  const ServerProcess first(folder_.path().string(), config("root", "ledger.db"));
  const TempFolder folder;
  ServerProcess second(ServerProcess::NoWait{}, folder.path().string(),
                       config("root/acme", "other.db"));
  EXPECT_EQ(second.wait(), 1) << second.log();
  EXPECT_THAT(second.log(), HasSubstr("lies inside the root"));
  EXPECT_THAT(second.log(), HasSubstr(folder_.at("root/.fenceline/lock")));
}

}  // namespace
}  // namespace fenceline::testing
