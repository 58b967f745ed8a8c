// scripts/quickstart with the binary under test, on free ports and in a folder of its own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/server_process.h"
#include "tests/support/temp_folder.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string binary() {
  const char* path = std::getenv("FENCELINE_BINARY");
  return path == nullptr ? "FENCELINE_BINARY-is-not-set" : path;
}

std::string in_repository(const std::string& path) {
  return std::string(FENCELINE_SOURCE_DIR) + "/" + path;
}

class QuickstartTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& more,
                                                 const std::string& proxy = binary()) const {
    std::vector<std::string> all = {in_repository("scripts/quickstart"), "--folder",
                                    folder_.path().string(), "--binary", proxy};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  /// The binary under test behind a shell script that first runs `line`; `$config` is its
  /// configuration.
  [[nodiscard]] std::string proxy_that(const std::string& line) const {
    std::string file = folder_.at("proxy.sh");
    std::ofstream(file) << "#!/bin/sh\nconfig=\"$3\"\n"
                        << line << "\nexec " << binary() << " serve --config \"$config\"\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }

  /// Throws unless nobody serves the data any more: the root and the ledger are locked by who does.
  void expect_free() const {
    const std::string config = contents_of(in_repository("config/quickstart.yaml"));
    std::string free_ports = config;
    for (const std::string port : {":8080", ":8081"}) {
      free_ports.replace(free_ports.find(port), port.size(), ":0");
    }
    ServerProcess successor(folder_.path().string(), free_ports);
    EXPECT_EQ(successor.stop(), 0);
  }

  TempFolder folder_;
  std::string output_ = folder_.at("output");
};

TEST_F(QuickstartTest, PlaysTheStoryTwice) {
  for (const auto& [a, b] : {std::pair("33", "34"), std::pair("35", "36")}) {
    ChildProcess quickstart(command({"--once", "--port", "0"}), output_);
    EXPECT_EQ(quickstart.wait(), 0) << quickstart.output();
    const std::string told = quickstart.output();
    EXPECT_THAT(told, HasSubstr("Worker A holds the lease with token " + std::string(a)));
    EXPECT_THAT(told, HasSubstr("412: Token " + std::string(a) + " was overtaken by " + b));
    EXPECT_THAT(told,
                HasSubstr("the content is: written by worker B with token " + std::string(b)));
    EXPECT_THAT(told, HasSubstr("412: Token " + std::string(a) + " is older than " + b));
    EXPECT_THAT(told, HasSubstr("The story is as it should be."));
    EXPECT_EQ(told.find("A fresh start uses the tokens 33 and 34.") != std::string::npos,
              std::string(a) != "33");
  }
  expect_free();
}

TEST_F(QuickstartTest, KeepsServingUntilItIsStopped) {
  ChildProcess quickstart(command({"--port", "0"}), output_);
  const std::string words = "Serving http://127.0.0.1:";
  wait_until("quickstart to serve",
             [&] { return quickstart.output().find("/v1/rejections") != std::string::npos; });
  const std::string told = quickstart.output();
  const std::size_t at = told.find(words) + words.size();
  RawClient client(static_cast<std::uint16_t>(std::strtoul(told.c_str() + at, nullptr, 10)));
  EXPECT_EQ(client.exchange(fenced_put("/exports/acme/readme", 35, "new")).status, 201);

  ::kill(quickstart.pid(), SIGTERM);
  EXPECT_EQ(quickstart.wait(), 0) << quickstart.output();
  client.expect_closed();
  expect_free();
}

TEST_F(QuickstartTest, FailsLoudlyWhenTheZombieGetsThrough) {
  const std::string proxy = proxy_that(
      "sed 's/^    fence:.*/&\\n    enforce: false/' \"$config\" >unfenced.yaml\n"
      "config=unfenced.yaml");
  ChildProcess quickstart(command({"--once", "--port", "0"}, proxy), output_);
  EXPECT_EQ(quickstart.wait(), 1) << quickstart.output();
  EXPECT_THAT(quickstart.output(), HasSubstr("the write of the zombie was answered 204, not 412"));
  EXPECT_THAT(quickstart.output(), HasSubstr("The log of the proxy"));
  EXPECT_THAT(quickstart.output(), Not(HasSubstr("as it should be")));
  expect_free();
}

TEST_F(QuickstartTest, ShowsTheLogOfAProxyThatDoesNotStart) {
  ChildProcess quickstart(command({"--once", "--port", "0"}, proxy_that("echo no luck; exit 1")),
                          output_);
  EXPECT_EQ(quickstart.wait(), 1);
  EXPECT_THAT(quickstart.output(), HasSubstr("the proxy did not start"));
  EXPECT_THAT(quickstart.output(), HasSubstr("no luck"));
}

TEST_F(QuickstartTest, NamesWhoUsesThePort) {
  FilesServer other;
  const std::string port = std::to_string(other.process().port());
  ChildProcess quickstart(command({"--once", "--port", port}), output_);
  EXPECT_EQ(quickstart.wait(), 1);
  EXPECT_THAT(quickstart.output(),
              HasSubstr("port " + port + " is in use by process " +
                        std::to_string(other.process().pid()) + " (" + binary()));
  EXPECT_THAT(quickstart.output(), HasSubstr("choose another port: scripts/quickstart --port"));
}

TEST_F(QuickstartTest, RefusesWhatItDoesNotKnow) {
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"--twice"}, {"--port"}, {"--port", "65535"}, {"--port", "http"}, {"--port", "010"}}) {
    ChildProcess quickstart(command(wrong), output_);
    EXPECT_EQ(quickstart.wait(), 1) << wrong.back();
    EXPECT_THAT(quickstart.output(), HasSubstr("quickstart: ")) << wrong.back();
  }
}

}  // namespace
}  // namespace fenceline::testing
