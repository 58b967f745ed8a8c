// The commands of the binary, what they print and their exit codes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;

class CommandLineTest : public ::testing::Test {
 protected:
  /// Runs the binary; its output is in `output_`.
  int run(std::vector<std::string> arguments) {
    const char* binary = std::getenv("FENCELINE_BINARY");
    arguments.insert(arguments.begin(), binary == nullptr ? "FENCELINE_BINARY?" : binary);
    ChildProcess process(arguments, folder_.at("output"));
    const int code = process.wait();
    output_ = process.output();
    return code;
  }

  std::string write_config(const std::string& text) {
    std::ofstream(folder_.at("fenceline.yaml")) << text;
    return folder_.at("fenceline.yaml");
  }

  std::string right_config(const std::string& more = {}) {
    return write_config("listen: 127.0.0.1:0\nledger: {sqlite: " + folder_.at("ledger.db") +
                        "}\nroutes:\n  - name: exports\n    match: /exports/{path...}\n    files: "
                        "{root: " +
                        folder_.at("root") + "}\n" + more);
  }

  TempFolder folder_;
  std::string output_;
};

TEST_F(CommandLineTest, Version) {
  EXPECT_EQ(run({"version"}), 0);
  EXPECT_THAT(output_, ::testing::MatchesRegex("fenceline [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(CommandLineTest, HelpHasExamplesAndExitCodes) {
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(output_, HasSubstr("Example"));
  EXPECT_THAT(output_, HasSubstr("Exit codes"));
  for (const std::string command : {"serve", "check"}) {
    EXPECT_EQ(run({command, "--help"}), 0);
    EXPECT_THAT(output_, HasSubstr("fenceline " + command)) << "no example";
  }
}

TEST_F(CommandLineTest, WhatIsNoCommandIsAnErrorOfUsage) {
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {}, {"sreve"}, {"serve"}, {"check"}, {"serve", "--cnofig", "x"}, {"version", "more"}}) {
    EXPECT_EQ(run(wrong), 2) << output_;
    EXPECT_NE(output_, "");
  }
}

TEST_F(CommandLineTest, TheCommandsForRedlockAreReached) {
  EXPECT_EQ(run({"lease", "redlock-init", "--source", "redis://127.0.0.1:1"}), 2);
  EXPECT_THAT(output_, HasSubstr("redlock"));
  EXPECT_EQ(run({"lease", "redlock-resync", "127.0.0.1:4", "--source",
                 "redlock://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3"}),
            2);
  EXPECT_THAT(output_, HasSubstr("127.0.0.1:4"));
  EXPECT_EQ(run({"lease", "redlock-init"}), 2) << "no source";
}

TEST_F(CommandLineTest, CheckPrintsTheGuaranteeAndTouchesNothing) {
  EXPECT_EQ(run({"check", "--config", right_config()}), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("exports"));
  EXPECT_THAT(output_, HasSubstr("strict"));
  EXPECT_FALSE(std::filesystem::exists(folder_.at("root")));
  EXPECT_FALSE(std::filesystem::exists(folder_.at("ledger.db")));
}

TEST_F(CommandLineTest, AWordThatIsNoCommandIsNamed) {
  EXPECT_EQ(run({"sreve"}), 2);
  EXPECT_THAT(output_, HasSubstr("'sreve'"));
  EXPECT_THAT(output_, HasSubstr("serve, check, fences, run, lease, version"));
}

TEST_F(CommandLineTest, TheConfigurationMayBeNamedWithoutAnOption) {
  EXPECT_EQ(run({"check", right_config()}), 0) << output_;
}

TEST_F(CommandLineTest, CheckReadsTheFilesThatAreNamed) {
  const std::string listen =
      "listen: {address: 127.0.0.1:0, tls: {certificate: " + folder_.at("cert.pem") +
      ", key: " + folder_.at("key.pem") + "}}\n";
  std::ofstream(folder_.at("root")) << "a file where a directory should be";
  const std::string routes = "ledger: {sqlite: " + folder_.at("ledger.db") +
                             "}\nroutes:\n  - name: exports\n    match: /exports/{path...}\n"
                             "    files: {root: " +
                             folder_.at("root") + "}\n";
  EXPECT_EQ(run({"check", write_config(listen + routes)}), 2);
  EXPECT_THAT(output_, HasSubstr("cert.pem"));
  EXPECT_THAT(output_, HasSubstr("is not a directory"));
}

TEST_F(CommandLineTest, EveryMistakeOfAConfigurationIsListed) {
  const std::string file = right_config("limits: {haed: 16KiB}\ntimeouts: {head: 10}\n");
  for (const std::string command : {"check", "serve"}) {
    EXPECT_EQ(run({command, "--config", file}), 2);
    EXPECT_THAT(output_, HasSubstr(file + ":7:10: unknown key `limits.haed`"));
    EXPECT_THAT(output_, HasSubstr("did you mean `head`?"));
    EXPECT_THAT(output_, HasSubstr(file + ":8:18: "));
    EXPECT_THAT(output_, HasSubstr("2 problems"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.at("root")));
}

TEST_F(CommandLineTest, AConfigurationThatIsNotThere) {
  for (const std::string command : {"check", "serve"}) {
    EXPECT_EQ(run({command, "--config", folder_.at("none.yaml")}), 2);
    EXPECT_THAT(output_, HasSubstr("none.yaml"));
  }
}

TEST_F(CommandLineTest, ARouteThatCannotGiveWhatItRequires) {
  const std::string file = right_config("    writes: optional\n    require: strict\n");
  EXPECT_EQ(run({"serve", "--config", file}), 2);
  EXPECT_THAT(output_, HasSubstr("require"));
  EXPECT_THAT(output_, HasSubstr("detect"));
}

TEST_F(CommandLineTest, AServerThatCannotStartSaysWhy) {
  std::ofstream(folder_.at("root")) << "a file where the directory should be";
  EXPECT_EQ(run({"serve", "--config", right_config()}), 1);
  EXPECT_THAT(output_, HasSubstr(folder_.at("root")));
}

}  // namespace
}  // namespace fenceline::testing
