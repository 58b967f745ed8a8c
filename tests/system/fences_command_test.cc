// `fenceline fences`: the real command against the real server.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/raw_client.h"
#include "tests/support/temp_folder.h"
#include "tests/system/files_server.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kToken = "0123456789abcdef";

std::string with_token() {
  std::string config = FilesServer::two_routes("none");
  const std::string open = "admin: {listen: 127.0.0.1:0}";
  return config.replace(config.find(open), open.size(),
                        fmt::format("admin: {{listen: 127.0.0.1:0, token: {}}}", kToken));
}

class FencesCommandTest : public ::testing::Test {
 protected:
  /// Runs `fenceline fences` on the server; its output is in `output_`.
  int fences(std::vector<std::string> arguments) {
    arguments.push_back("--admin");
    arguments.push_back(fmt::format("http://127.0.0.1:{}", server_.process().admin_port()));
    return bare(std::move(arguments));
  }

  int bare(std::vector<std::string> arguments) {
    const char* binary = std::getenv("FENCELINE_BINARY");
    arguments.insert(arguments.begin(), {binary == nullptr ? "FENCELINE_BINARY?" : binary});
    arguments.insert(arguments.begin() + 1, "fences");
    ChildProcess process(arguments, folder_.at("output"));
    const int code = process.wait();
    output_ = process.output();
    return code;
  }

  int put(std::int64_t token, const std::string& tenant = "acme", const std::string& fields = {}) {
    return server_.put("/exports/" + tenant + "/a", token, "x", fields).status;
  }

  FilesServer server_{FilesServer::two_routes("none")};
  TempFolder folder_;
  std::string output_;
};

TEST_F(FencesCommandTest, ListsInPages) {
  EXPECT_EQ(fences({"list"}), 0) << output_;
  EXPECT_EQ(output_, "KEY  MARK  HOLDER\n");
  put(33, "acme", "Fencing-Holder: worker-1\r\n");
  put(7, "a%20%27b%22%3F%23%26");
  put(8, "zeta");
  EXPECT_EQ(fences({"list"}), 0) << output_;
  EXPECT_EQ(output_,
            "KEY               MARK  HOLDER\n"
            "exports/a 'b\"?#&  7     -\n"
            "exports/acme      33    worker-1\n"
            "exports/zeta      8     -\n");
  EXPECT_EQ(fences({"list", "--limit", "2"}), 0);
  EXPECT_THAT(output_, HasSubstr("there are more: --after 'exports/acme'"));
  EXPECT_EQ(fences({"list", "--limit", "0", "--prefix", "exports/a"}), 0);
  EXPECT_THAT(output_, Not(HasSubstr("zeta")));
  EXPECT_EQ(fences({"list", "--after", "exports/acme", "--json"}), 0);
  EXPECT_EQ(output_, R"({"fences":[{"key":"exports/zeta","mark":"8","holder":""}]})"
                     "\n");
}

TEST_F(FencesCommandTest, ShowsAnyKey) {
  put(7, "a%20%27b%22%3F%23%26%25");
  EXPECT_EQ(fences({"show", "exports/a 'b\"?#&%"}), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("mark       7\n"));
  EXPECT_EQ(fences({"show", "exports/none"}), 3);
  EXPECT_THAT(output_, HasSubstr("No token was ever seen"));
  EXPECT_EQ(fences({"show", "a\nb"}), 2);
}

TEST_F(FencesCommandTest, ARaiseIsDurableMonotoneAndKeepsOlderWritersOut) {
  put(33);
  EXPECT_EQ(fences({"raise", "exports/acme", "--to", "40"}), 0) << output_;
  EXPECT_EQ(output_, "exports/acme: the mark is 40 now, it was 33\n");
  EXPECT_EQ(put(39), 412);
  EXPECT_EQ(fences({"raise", "exports/acme", "--to", "40"}), 0);
  EXPECT_EQ(output_, "exports/acme: the mark is 40, nothing to change\n");
  EXPECT_EQ(fences({"raise", "exports/acme", "--to", "35", "--json"}), 0);
  EXPECT_THAT(output_, HasSubstr(R"("mark":"40","previous":)"));
  EXPECT_EQ(fences({"raise", "never/seen", "--to", "9"}), 0);
  server_.kill_and_restart();
  EXPECT_EQ(server_.mark("exports/acme"), 40);
  EXPECT_EQ(server_.mark("never/seen"), 9);
  EXPECT_EQ(put(40), 204) << "no holder is bound to a mark that an operator raised";
  EXPECT_THAT(server_.process().log(), Not(HasSubstr("fence_reset")));
}

TEST_F(FencesCommandTest, ARaiseOvertakesAnUploadThatHasNotCommitted) {
  put(33);
  HalfUpload upload(server_, "/exports/acme/b", 33, std::string(10000, 'x'));
  EXPECT_EQ(fences({"raise", "exports/acme", "--to", "40"}), 0) << output_;
  expect_fenced(upload.finish(), 33, 40);
}

// The story of a token source that was restored: detection, the command it names, the way back.
TEST_F(FencesCommandTest, TheSourceThatStartsAgain) {
  put(100, "acme", "Fencing-Holder: w0\r\n");
  for (std::int64_t token = 1; token <= 4; ++token) {
    EXPECT_EQ(put(token, "acme", fmt::format("Fencing-Holder: w{}\r\n", token)), 412);
  }
  EXPECT_THAT(server_.process().log(),
              HasSubstr("fenceline fences reset exports/acme --to 4 --from 100 --reason"));
  EXPECT_THAT(server_.admin("/metrics").body,
              HasSubstr("fenceline_source_reset_suspected_total{route=\"exports\"} 1"));
  EXPECT_EQ(fences({"list"}), 0);
  EXPECT_THAT(output_, HasSubstr("token source reset?"));
  EXPECT_EQ(fences({"show", "exports/acme"}), 0);
  EXPECT_THAT(output_, HasSubstr("The token source may have been reset: 4 rising tokens of 4"));
  EXPECT_EQ(fences({"show", "exports/acme", "--json"}), 0);
  EXPECT_THAT(output_,
              HasSubstr(R"("source_reset_suspected":{"presented":"4","tokens":4,"holders":4})"));

  EXPECT_EQ(fences({"reset", "exports/acme", "--to", "4", "--reason", "etcd 'x' restored"}), 0)
      << output_;
  EXPECT_EQ(output_, "exports/acme: the mark is 4 now, it was 100\n");
  EXPECT_THAT(server_.process().log(), HasSubstr("fence_reset"));
  EXPECT_EQ(put(3), 412);
  EXPECT_EQ(put(4, "acme", "Fencing-Holder: w4\r\n"), 204);
  EXPECT_EQ(put(5), 204);

  server_.kill_and_restart();
  EXPECT_EQ(server_.mark("exports/acme"), 5);
  EXPECT_EQ(fences({"show", "exports/acme"}), 0);
  EXPECT_THAT(output_, HasSubstr(": from 100 (holder w0) to 4 by "));
  EXPECT_THAT(output_, HasSubstr("etcd 'x' restored"));
  EXPECT_THAT(output_, Not(HasSubstr("may have been reset")));
}

TEST_F(FencesCommandTest, AHolderThatWorksOnIsNoResetSource) {
  put(100);
  for (std::int64_t token = 1; token <= 20; ++token) {
    EXPECT_EQ(put(token), 412);
    EXPECT_EQ(put(100), 204);
  }
  EXPECT_THAT(server_.process().log(), Not(HasSubstr("source_reset_suspected")));
}

TEST_F(FencesCommandTest, AResetThatDoesNotFitIsRefused) {
  put(100);
  EXPECT_EQ(fences({"reset", "exports/acme", "--to", "101", "--reason", "r"}), 3);
  EXPECT_THAT(output_, HasSubstr("a reset does not go up"));
  EXPECT_EQ(fences({"reset", "exports/acme", "--to", "5", "--from", "99", "--reason", "r"}), 3);
  EXPECT_THAT(output_, HasSubstr("The mark is 100 and not 99"));
  EXPECT_EQ(fences({"reset", "exports/none", "--to", "5", "--reason", "r"}), 3);
  EXPECT_EQ(fences({"reset", "exports/acme", "--to", "5", "--reason", " "}), 2);
  EXPECT_EQ(fences({"reset", "exports/acme", "--to", "5"}), 2);
  EXPECT_EQ(fences({"reset", "exports/acme", "--to", "05", "--reason", "r"}), 2);
  EXPECT_EQ(server_.mark("exports/acme"), 100);
}

// An upload of before the reset whose token is the mark again afterwards.
TEST_F(FencesCommandTest, AnUploadFromBeforeTheResetNeverLands) {
  put(50);
  HalfUpload overtaken(server_, "/exports/acme/b", 50, std::string(10000, 'x'));
  put(100);
  EXPECT_EQ(fences({"reset", "exports/acme", "--to", "50", "--reason", "r"}), 0) << output_;
  expect_not_applied(overtaken.finish(), 503, "draining");
  EXPECT_EQ(server_.content("/exports/acme/b"), std::nullopt);
  EXPECT_EQ(put(50), 204);
}

TEST_F(FencesCommandTest, WhatIsWrongIsSaid) {
  EXPECT_EQ(bare({"list"}), 2);
  EXPECT_THAT(output_, HasSubstr("--admin"));
  EXPECT_EQ(bare({}), 2);
  EXPECT_EQ(bare({"list", "--admin", "https://127.0.0.1:1"}), 2);
  EXPECT_EQ(bare({"list", "--admin", "http://127.0.0.1:1"}), 1);
  EXPECT_THAT(output_, HasSubstr("No fenceline answers at http://127.0.0.1:1"));
  EXPECT_THAT(output_, HasSubstr("admin.listen"));
  // The public listener is no admin listener.
  EXPECT_NE(bare({"list", "--admin", fmt::format("http://127.0.0.1:{}", server_.process().port())}),
            0);
  const std::string config = folder_.at("fenceline.yaml");
  std::ofstream(config) << FilesServer::two_routes("none");
  EXPECT_EQ(bare({"list", "--config", config}), 2);
  EXPECT_THAT(output_, HasSubstr("leaves the port"));
  EXPECT_EQ(bare({"--help"}), 0);
  EXPECT_THAT(output_, HasSubstr("Exit codes"));
}

TEST_F(FencesCommandTest, AServerThatDoesNotAnswerIsNotWaitedForForEver) {
  ::kill(server_.process().pid(), SIGSTOP);
  wait_until_stopped(server_.process().pid());
  EXPECT_EQ(fences({"list", "--timeout", "1"}), 1);
  EXPECT_THAT(output_, HasSubstr("time is over"));
  ::kill(server_.process().pid(), SIGCONT);
}

TEST_F(FencesCommandTest, TheBearerTokenIsReadFromAFileTheConfigurationOrTheEnvironment) {
  FilesServer other{with_token()};
  const std::string url = fmt::format("http://127.0.0.1:{}", other.process().admin_port());
  EXPECT_EQ(bare({"list", "--admin", url}), 1);
  EXPECT_THAT(output_, HasSubstr("wants another bearer token"));
  std::ofstream(folder_.at("token")) << kToken << "\n";
  EXPECT_EQ(bare({"list", "--admin", url, "--token-file", folder_.at("token")}), 0) << output_;
  EXPECT_EQ(bare({"list", "--admin", url, "--token-file", folder_.at("none")}), 2);
  const std::string config = folder_.at("fenceline.yaml");
  std::ofstream(config) << with_token();
  EXPECT_EQ(bare({"list", "--admin", url, "--config", config}), 0) << output_;
  ASSERT_EQ(::setenv("FENCELINE_ADMIN_TOKEN", kToken, 1), 0);
  EXPECT_EQ(bare({"list", "--admin", url}), 0) << output_;
  ASSERT_EQ(::setenv("FENCELINE_ADMIN", url.c_str(), 1), 0);
  EXPECT_EQ(bare({"list"}), 0) << output_;
  ::unsetenv("FENCELINE_ADMIN_TOKEN");
  EXPECT_EQ(bare({"list"}), 1) << output_;
  ::unsetenv("FENCELINE_ADMIN");
}

}  // namespace
}  // namespace fenceline::testing
