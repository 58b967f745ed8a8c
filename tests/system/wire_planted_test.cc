// What a stranger planted in the root: symbolic links, a FIFO, a socket, directories and files in
// each other's place. Nothing is followed, nothing hangs, nothing outside is touched.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/unique_fd.h"
#include "tests/system/wire_fixture.h"

namespace fenceline::testing {
namespace {

class WirePlantedTest : public WireTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder().at("outside"));
    std::ofstream(folder().at("outside/secret")) << "secret";
    std::filesystem::create_directories(at("dir/inner"));
    std::ofstream(at("file")) << "plain";
  }

  static std::string at(const std::string& name) { return folder().at("exports/acme/" + name); }

  /// GET, HEAD, PUT (with a body of requests) and DELETE of `name` are all refused the same way.
  static void expect_refused(const std::string& name, int status, const std::string& problem) {
    const std::string path = "/exports/acme/" + name;
    const std::string rest = " HTTP/1.1\r\nHost: a\r\nFencing-Token: 34\r\n\r\n";
    run({{"get " + name, get(path), {status}, After::kKept, problem},
         {"fenced get " + name,
          get(path, "Fencing-Token: 34\r\n"),
          {status},
          After::kKept,
          problem},
         {"head " + name, "HEAD " + path + rest, {status}},
         {"put " + name, sized_put(path, smuggled()), {status}, After::kKept, problem},
         {"delete " + name, "DELETE " + path + rest, {status}, After::kKept, problem}});
    EXPECT_EQ(content("outside/secret"), "secret");
  }
};

TEST_F(WirePlantedTest, SymbolicLinks) {
  std::filesystem::create_symlink(folder().at("outside/secret"), at("absolute"));
  std::filesystem::create_symlink("../../outside/secret", at("relative"));
  std::filesystem::create_symlink(folder().at("outside/none"), at("dangling"));
  std::filesystem::create_symlink("canary", at("inside"));
  std::filesystem::create_symlink("loop", at("loop"));
  std::filesystem::create_directory_symlink(folder().at("outside"), at("linked"));
  std::filesystem::create_directory_symlink("dir", at("linked-inside"));
  for (const char* name : {"absolute", "relative", "dangling", "inside", "loop", "linked/secret",
                           "linked/new", "linked/deep/new", "linked-inside/new"}) {
    expect_refused(name, 403, "forbidden-name");
  }
  expect_problem(ask(get("/exports/acme/linked/")), 403, "forbidden-name");
  EXPECT_FALSE(std::filesystem::exists(folder().at("outside/new")));
  EXPECT_FALSE(std::filesystem::exists(folder().at("outside/none")));
  EXPECT_FALSE(std::filesystem::exists(folder().at("outside/deep")));
  EXPECT_TRUE(std::filesystem::is_symlink(at("inside")));
  EXPECT_TRUE(std::filesystem::is_symlink(at("absolute")));
}

TEST_F(WirePlantedTest, SpecialFiles) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0666), 0);
  expect_refused("fifo", 403, "forbidden-name");
  EXPECT_TRUE(std::filesystem::is_fifo(at("fifo")));

  const base::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = at("socket");
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  expect_refused("socket", 403, "forbidden-name");
}

TEST_F(WirePlantedTest, DirectoryInThePlaceOfAFile) {
  const std::string rest = " HTTP/1.1\r\nHost: a\r\nFencing-Token: 34\r\n\r\n";
  run({{"put", sized_put("/exports/acme/dir", smuggled()), {409}, After::kKept, "name-conflict"},
       {"delete", "DELETE /exports/acme/dir" + rest, {409}, After::kKept, "name-conflict"},
       {"delete with a slash",
        "DELETE /exports/acme/dir/" + rest,
        {400},
        After::kKept,
        "malformed-request"}});
  EXPECT_TRUE(std::filesystem::is_directory(at("dir/inner")));
}

TEST_F(WirePlantedTest, FileInThePlaceOfADirectory) {
  const std::string rest = " HTTP/1.1\r\nHost: a\r\nFencing-Token: 34\r\n\r\n";
  run({{"put", sized_put("/exports/acme/file/x", smuggled()), {409}, After::kKept, "name-conflict"},
       {"put deeper",
        sized_put("/exports/acme/file/x/y/z", smuggled()),
        {409},
        After::kKept,
        "name-conflict"},
       {"get", get("/exports/acme/file/x"), {404}, After::kKept, "not-found"},
       {"delete", "DELETE /exports/acme/file/x" + rest, {404}, After::kKept, "not-found"},
       {"get with a slash", get("/exports/acme/file/"), {404}, After::kKept, "not-found"}});
  EXPECT_EQ(content("exports/acme/file"), "plain");
}

TEST_F(WirePlantedTest, ListingShowsNothingThatCannotBeRead) {
  std::filesystem::create_directories(at("mixed/directory"));
  std::ofstream(at("mixed/file")) << "12345";
  std::filesystem::create_symlink("file", at("mixed/link"));
  ASSERT_EQ(::mkfifo(at("mixed/fifo").c_str(), 0666), 0);
  const Response listing = ask(get("/exports/acme/mixed/"));
  EXPECT_EQ(listing.status, 200);
  EXPECT_NE(listing.body.find(R"("name":"directory","type":"directory")"), std::string::npos)
      << listing.body;
  EXPECT_NE(listing.body.find(R"("name":"file","type":"file","size":5)"), std::string::npos)
      << listing.body;
  EXPECT_EQ(listing.body.find("link"), std::string::npos) << listing.body;
  EXPECT_EQ(listing.body.find("fifo"), std::string::npos) << listing.body;
}

TEST_F(WirePlantedTest, ReplacingAHardLinkLeavesItsOtherName) {
  std::filesystem::create_hard_link(folder().at("outside/secret"), at("hard"));
  EXPECT_EQ(ask(sized_put("/exports/acme/hard", "new")).status, 204);
  EXPECT_EQ(content("exports/acme/hard"), "new");
  EXPECT_EQ(content("outside/secret"), "secret");
}

TEST_F(WirePlantedTest, RootReplacedByALink) {
  // The root was opened at start: a link in its place afterwards leads nowhere.
  std::filesystem::create_directories(folder().at("outside/single"));
  std::filesystem::rename(folder().at("single"), folder().at("single.moved"));
  std::filesystem::create_directory_symlink(folder().at("outside/single"), folder().at("single"));
  ask(sized_put("/single/new", "x"));
  EXPECT_FALSE(std::filesystem::exists(folder().at("outside/single/new")));
}

}  // namespace
}  // namespace fenceline::testing
