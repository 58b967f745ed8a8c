// What changes between the 100 and the last byte of a body: the name was right at the arrival, the
// commit must look again.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

class WireRaceTest : public WireTest {
 protected:
  static std::string at(const std::string& name) { return folder().at("exports/acme/" + name); }

  /// A PUT of "body" to `name` that has got its 100.
  static std::unique_ptr<RawClient> begin(const std::string& name, const std::string& fields = {}) {
    auto client = std::make_unique<RawClient>(server().port());
    const Response interim = client->exchange(
        put("/exports/acme/" + name, "Expect: 100-continue\r\nContent-Length: 4\r\n" + fields, ""));
    EXPECT_EQ(interim.status, 100) << interim.body;
    return client;
  }

  static void make_directory(const std::string& name) {
    std::filesystem::create_directories(at(name));
  }
};

TEST_F(WireRaceTest, DirectoryBecomesALink) {
  make_directory("dir");
  std::filesystem::create_directories(folder().at("outside"));
  const auto client = begin("dir/x");
  std::filesystem::remove(at("dir"));
  std::filesystem::create_directory_symlink(folder().at("outside"), at("dir"));
  const Response answer = client->exchange("body");
  expect_problem(answer, 403, "forbidden-name");
  EXPECT_TRUE(std::filesystem::is_empty(folder().at("outside")));
  expect_after(*client, answer, After::kKept);
  expect_unharmed();
}

TEST_F(WireRaceTest, FileBecomesALink) {
  std::ofstream(at("file")) << "old";
  std::ofstream(folder().at("secret")) << "secret";
  const auto client = begin("file");
  std::filesystem::remove(at("file"));
  std::filesystem::create_symlink(folder().at("secret"), at("file"));
  const Response answer = client->exchange("body");
  EXPECT_EQ(answer.status, 403) << answer.body;
  EXPECT_EQ(content("secret"), "secret");
  expect_unharmed();
}

TEST_F(WireRaceTest, NameBecomesADirectory) {
  const auto client = begin("taken");
  make_directory("taken/inner");
  expect_problem(client->exchange("body"), 409, "name-conflict");
  EXPECT_TRUE(std::filesystem::is_directory(at("taken/inner")));
  expect_unharmed();
}

TEST_F(WireRaceTest, ParentBecomesAFile) {
  make_directory("parent");
  const auto client = begin("parent/x");
  std::filesystem::remove(at("parent"));
  std::ofstream(at("parent")) << "file";
  expect_problem(client->exchange("body"), 409, "name-conflict");
  EXPECT_EQ(content("exports/acme/parent"), "file");
  expect_unharmed();
}

TEST_F(WireRaceTest, ParentGoesAway) {
  make_directory("going");
  const auto client = begin("going/x");
  std::filesystem::remove(at("going"));
  EXPECT_EQ(client->exchange("body").status, 201);
  EXPECT_EQ(content("exports/acme/going/x"), "body");
}

TEST_F(WireRaceTest, TemporaryFileIsStolen) {
  const auto client = begin("stolen");
  client->send("bod");
  const std::string temporary = folder().at("exports/.fenceline/tmp");
  for (const auto& each : std::filesystem::directory_iterator(temporary)) {
    std::filesystem::remove(each.path());
  }
  const Response answer = client->exchange("y");
  // Either it never had a name, or the write fails; never an acknowledged write that is not there.
  EXPECT_EQ(answer.status / 100 == 2, content("exports/acme/stolen") == "body")
      << answer.status << answer.body;
  EXPECT_EQ(ask(sized_put("/exports/acme/after", "x")).status, 201);
  expect_unharmed();
}

TEST_F(WireRaceTest, ConditionsSeeTheStateAtTheCommit) {
  const std::string etag = write("/exports/acme/doc", "old");
  const auto conditional = begin("doc", "If-Match: " + etag + "\r\n");
  const auto creating = begin("fresh", "If-None-Match: *\r\n");
  write("/exports/acme/doc", "newer");
  write("/exports/acme/fresh", "newer");
  expect_problem(conditional->exchange("body"), 412, "precondition-failed");
  expect_problem(creating->exchange("body"), 412, "precondition-failed");
  EXPECT_EQ(content("exports/acme/doc"), "newer");
  EXPECT_EQ(content("exports/acme/fresh"), "newer");
}

TEST_F(WireRaceTest, OvertakenByAFencedReadAlone) {
  const std::string path = "/exports/read/x";
  EXPECT_EQ(ask(sized_put(path, "old")).status, 201);
  RawClient zombie(server().port());
  EXPECT_EQ(zombie.exchange(put(path, "Expect: 100-continue\r\nContent-Length: 4\r\n", "")).status,
            100);
  EXPECT_EQ(ask(head(path, "Fencing-Token: 35\r\n")).status, 200);
  expect_problem(zombie.exchange("evil"), 412, "stale-token");
  EXPECT_EQ(content("exports/read/x"), "old");
}

}  // namespace
}  // namespace fenceline::testing
