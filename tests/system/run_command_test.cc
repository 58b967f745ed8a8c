// `fenceline run` with the real binary: what the command gets, its end, signals.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "tests/system/run_fixture.h"

namespace fenceline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using RunCommandTest = RunFixture;

TEST_F(RunCommandTest, TheCommandHasItsLeaseWhileItRuns) {
  auto run_ = run({"--aws", "--holder", "worker-7", "--key", "exports/zeta"},
                  "echo token=$FENCING_TOKEN; echo \"keys=$FENCING_KEYS\"; echo key=$FENCING_KEY; "
                  "echo aws=$AWS_SESSION_TOKEN; echo holder=$FENCING_HOLDER; "
                  "echo lease=$FENCING_LEASE; echo ready; read line");
  wait_for(*run_, "ready\n");
  const Response shown = server_.show(kKey);
  EXPECT_EQ(shown.status, 200);
  const std::string token = text_in(shown, "token");
  EXPECT_EQ(text_in(shown, "holder"), "worker-7");
  EXPECT_EQ(text_in(server_.show("exports/zeta"), "token"), token);
  run_->end_input();
  EXPECT_EQ(run_->wait(), 1) << "what read has at the end of input";
  EXPECT_THAT(run_->output(), HasSubstr("token=" + token + "\n"));
  EXPECT_THAT(run_->output(), HasSubstr("aws=fence-" + token + "\n"));
  EXPECT_THAT(run_->output(), HasSubstr("key=exports/acme\n"));
  EXPECT_THAT(run_->output(), HasSubstr("keys=exports/acme\nexports/zeta\n"));
  EXPECT_THAT(run_->output(), HasSubstr("holder=worker-7\n"));
  EXPECT_THAT(run_->output(), Not(HasSubstr("lease=\n")));
  EXPECT_TRUE(is_free()) << "it was not released";
}

TEST_F(RunCommandTest, ExitCodesAreTheCommandsOwn) {
  EXPECT_EQ(run({}, "exit 0")->wait(), 0);
  EXPECT_EQ(run({}, "exit 7")->wait(), 7);
  EXPECT_EQ(run({}, "kill -KILL $$")->wait(), 137);
  EXPECT_EQ(run({}, "kill -INT $$; read line")->wait(), 130);
  EXPECT_TRUE(is_free());
}

TEST_F(RunCommandTest, ExitCodesOfItsOwn) {
  const auto exit_code = [&](std::vector<std::string> arguments) {
    auto process = fenceline(std::move(arguments));
    const int code = process->wait();
    return fmt::format("{} {}", code, process->output());
  };
  EXPECT_THAT(exit_code({"run", "--key", "k", "--source", source(), "--", "/nowhere/x"}),
              HasSubstr("127 fenceline run: /nowhere/x: No such file"));
  EXPECT_THAT(exit_code({"run", "--key", "k", "--source", source(), "--", "/etc/passwd"}),
              HasSubstr("126 fenceline run: /etc/passwd: Permission denied"));
  EXPECT_THAT(exit_code({"run", "--key", "k", "--source", "fenceline://127.0.0.1:1", "--", "true"}),
              HasSubstr("125 fenceline run: "));
  EXPECT_THAT(exit_code({"run", "--key", "k", "--source", "nosuch://x", "--", "true"}),
              HasSubstr("no source of the kind 'nosuch'"));
  EXPECT_THAT(exit_code({"run", "--key", "k"}), HasSubstr("125 command is required"));
  EXPECT_THAT(exit_code({"run", "--key", "k", "--ttl", "30", "--", "true"}),
              HasSubstr("125 --ttl"));
  EXPECT_THAT(exit_code({"run", "--help"}), HasSubstr("0 "));

  ASSERT_EQ(server_.take(kKey, "somebody").status, 201);
  auto refused = run({"--wait", "300ms"}, "echo must not run");
  EXPECT_EQ(refused->wait(), 124);
  EXPECT_THAT(refused->output(), HasSubstr("somebody"));
  EXPECT_THAT(refused->output(), Not(HasSubstr("must not run")));
}

TEST_F(RunCommandTest, ACheckThatIsNoUrlIsAWrongCommandLine) {
  for (const char* url : {"foo", "ftp://127.0.0.1:1", "http://u:p@127.0.0.1:1"}) {
    auto refused = run({"--check", url}, "echo must not run");
    EXPECT_EQ(refused->wait(), 125) << url;
    EXPECT_THAT(refused->output(), HasSubstr("is no URL such as"));
    EXPECT_THAT(refused->output(), Not(HasSubstr("must not run")));
  }
  EXPECT_TRUE(is_free());
}

TEST_F(RunCommandTest, ArgumentsArriveAsTheyAre) {
  auto process = fenceline({"run", "--key", kKey, "--source", source(), "--", "printf", "<%s>",
                            "--key", "-k", "", "a b", "--", "--help"});
  EXPECT_EQ(process->wait(), 0);
  EXPECT_EQ(process->output(), "<--key><-k><><a b><--><--help>");
}

TEST_F(RunCommandTest, ALeaseIsRenewedForAsLongAsItTakes) {
  auto run_ = run({"--ttl", "2s"}, "echo ready; read line; echo done");
  wait_for(*run_, "ready");
  const std::string token = text_in(server_.show(kKey), "token");
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(4'500);
  wait_until("several times its ttl to pass", [&] {
    EXPECT_EQ(text_in(server_.show(kKey), "token"), token);
    return std::chrono::steady_clock::now() > end || ::testing::Test::HasFailure();
  });
  run_->feed("\n");
  EXPECT_EQ(run_->wait(), 0) << run_->output();
}

TEST_F(RunCommandTest, SignalsAreForwarded) {
  const std::pair<int, const char*> signals[] = {{SIGTERM, "TERM"}, {SIGINT, "INT"},
                                                 {SIGHUP, "HUP"},   {SIGQUIT, "QUIT"},
                                                 {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}};
  for (const auto& [signal, name] : signals) {
    auto run_ = run({}, fmt::format("trap 'echo got-{0}; exit 3' {0}; echo ready; "
                                    "while :; do sleep 0.1; done",
                                    name));
    wait_for(*run_, "ready");
    ::kill(run_->pid(), signal);
    EXPECT_EQ(run_->wait(), 3) << name << ": " << run_->output();
    EXPECT_THAT(run_->output(), HasSubstr(fmt::format("got-{}", name)));
  }
  EXPECT_TRUE(is_free());
}

TEST_F(RunCommandTest, ASignalWhileItWaitsEndsIt) {
  ASSERT_EQ(server_.take(kKey, "somebody").status, 201);
  auto run_ = run({"--wait", "30s"}, "echo must not run");
  wait_until("it waits", [&] { return server_.count("fenceline_lease_waiters") == 1; });
  ::kill(run_->pid(), SIGTERM);
  EXPECT_EQ(run_->wait(), 128 + SIGTERM) << run_->output();
  wait_until("the line to be empty", [&] { return server_.count("fenceline_lease_waiters") == 0; });
}

TEST_F(RunCommandTest, AStoppedCommandGoesOn) {
  auto run_ = run({}, "echo pid=$$; read line; exit 5");
  const pid_t command = number_in(*run_, "pid");
  const auto state = [&] {
    const std::string stat = contents_of(fmt::format("/proc/{}/stat", command));
    return stat.substr(stat.rfind(')') + 2, 1);
  };
  ::kill(run_->pid(), SIGTSTP);
  wait_until("the command to stop", [&] { return state() == "T"; });
  ::kill(run_->pid(), SIGCONT);
  wait_until("the command to go on", [&] { return state() != "T"; });
  run_->end_input();
  EXPECT_EQ(run_->wait(), 5) << run_->output();
}

TEST_F(RunCommandTest, ATokenBelowTheMarkIsExplained) {
  FilesServer other;
  ASSERT_EQ(other.put("/exports/acme/a", 1'000'000'000, "x").status, 201);
  const std::string admin = fmt::format("http://127.0.0.1:{}", other.process().admin_port());
  const std::string route =
      fmt::format("http://127.0.0.1:{}/exports/acme/a", other.process().port());
  for (const std::string& url : {admin, route}) {
    auto run_ = run({"--check", url}, "echo must not run");
    EXPECT_EQ(run_->wait(), 125) << url;
    EXPECT_THAT(run_->output(), HasSubstr("lost its memory")) << url;
    EXPECT_THAT(run_->output(), HasSubstr("1000000000")) << url;
    EXPECT_THAT(run_->output(), Not(HasSubstr("must not run")));
    EXPECT_TRUE(is_free());
  }
  const std::string own = fmt::format("http://127.0.0.1:{}", server_.process().admin_port());
  auto good = run({"--check", own}, "echo runs");
  EXPECT_EQ(good->wait(), 0) << good->output();
  EXPECT_EQ(good->output(), "runs\n");
}

}  // namespace
}  // namespace fenceline::testing
