// `fenceline run` when the lease is lost, when it is paused, and when parts of it are killed.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "tests/support/server_process.h"
#include "tests/system/run_fixture.h"

namespace fenceline::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;
using ::testing::Not;

using RunLossTest = RunFixture;

/// Starts one child in the group and one that has left it, and says who they are; $PPID is the
/// guard.
constexpr const char* kFamily =
    "sleep 1000 & echo child=$!; setsid sh -c 'echo stray=$$; exec sleep 1000' & "
    "echo guard=$PPID; echo self=$$; ";

std::vector<pid_t> family_of(const ChildProcess& process, const std::vector<std::string>& names) {
  std::vector<pid_t> pids;
  for (const std::string& name : names) {
    std::string output;
    const std::string prefix = name + "=";
    wait_until(prefix, [&] {
      output = process.output();
      const std::size_t at = output.find(prefix);
      return at != std::string::npos && output.find('\n', at) != std::string::npos;
    });
    pids.push_back(static_cast<pid_t>(
        std::strtol(output.c_str() + output.find(prefix) + prefix.size(), nullptr, 10)));
  }
  return pids;
}

void expect_gone(const std::vector<pid_t>& pids) {
  for (const pid_t pid : pids) {
    wait_until(fmt::format("process {} to be gone", pid), [&] { return !is_running(pid); });
  }
}

TEST_F(RunLossTest, ARevokedLeaseEndsTheCommandAndAllItsChildren) {
  auto run_ = run({}, std::string(kFamily) +
                          "trap 'echo got-term; exit 0' TERM; echo ready; "
                          "while :; do sleep 0.1; done");
  const auto pids = family_of(*run_, {"child", "stray", "self", "guard"});
  wait_for(*run_, "ready");
  const Response revoked = server_.revoke(kKey);
  ASSERT_EQ(revoked.status, 200) << revoked.body;
  EXPECT_EQ(server_.take(kKey, "next").status, 201);
  // It learns so at its next renewal; a shorter way there is a stop of the wait.
  ::kill(run_->pid(), SIGTERM);
  EXPECT_EQ(run_->wait(), 0) << "the command ended by itself, on the signal";
  expect_gone(pids);
}

TEST_F(RunLossTest, ARenewalThatIsRefusedEndsIt) {
  auto run_ =
      run({"--ttl", "3s", "--grace", "1s"}, std::string(kFamily) +
                                                "trap 'echo got-term; exit 0' TERM; echo ready; "
                                                "while :; do sleep 0.1; done");
  const auto pids = family_of(*run_, {"child", "stray", "self", "guard"});
  wait_for(*run_, "ready");
  ASSERT_EQ(server_.revoke(kKey).status, 200);
  ASSERT_EQ(server_.take(kKey, "next").status, 201);
  EXPECT_EQ(run_->wait(), 123) << run_->output();
  EXPECT_THAT(run_->output(), HasSubstr("got-term"));
  EXPECT_THAT(run_->output(), HasSubstr("the lease is lost"));
  expect_gone(pids);
  EXPECT_EQ(text_in(server_.show(kKey), "holder"), "next") << "the successor was harmed";
}

TEST_F(RunLossTest, ACommandThatIgnoresTermIsKilled) {
  auto run_ = run({"--ttl", "3s", "--grace", "300ms"},
                  "trap '' TERM; echo self=$$; echo ready; while :; do sleep 0.1; done");
  const auto pids = family_of(*run_, {"self"});
  wait_for(*run_, "ready");
  ASSERT_EQ(server_.revoke(kKey).status, 200);
  EXPECT_EQ(run_->wait(), 123) << run_->output();
  expect_gone(pids);
}

TEST_F(RunLossTest, WithoutAServerItEndsBeforeTheLeaseDoes) {
  const auto start = steady_clock::now();
  auto run_ = run({"--ttl", "3s", "--grace", "500ms"},
                  "trap '' TERM; echo self=$$; echo ready; while :; do sleep 0.1; done");
  const auto pids = family_of(*run_, {"self"});
  wait_for(*run_, "ready");
  server_.kill();
  wait_until("the command to be gone", [&] { return !is_running(pids.front()); });
  const auto lasted = steady_clock::now() - start;
  EXPECT_GT(lasted, milliseconds(1'500));
  // From the last renewal that may have got through, at a third of the ttl.
  EXPECT_LT(lasted, milliseconds(3'000 + 1'500)) << "it outlived its lease";
  EXPECT_EQ(run_->wait(), 123) << run_->output();
  EXPECT_THAT(run_->output(), HasSubstr("could not be renewed, trying on"));
}

TEST_F(RunLossTest, ARestartOfTheServerWithinTheTtlIsSurvived) {
  auto run_ = run({"--ttl", "6s"}, "echo ready; read line");
  wait_for(*run_, "ready");
  const std::string token = text_in(server_.show(kKey), "token");
  restart_server();
  const std::int64_t first = number_in(server_.show(kKey), "left_ms");
  std::int64_t last = first;
  wait_until("a renewal by the new server", [&] {
    const std::int64_t left = number_in(server_.show(kKey), "left_ms");
    const bool renewed = left > last;
    last = left;
    return renewed;
  });
  EXPECT_EQ(text_in(server_.show(kKey), "token"), token);
  run_->feed("\n");
  EXPECT_EQ(run_->wait(), 0) << run_->output();
  EXPECT_TRUE(is_free());
}

TEST_F(RunLossTest, WhatACommandLeavesBehindIsEnded) {
  auto run_ = run({"--grace", "300ms"}, std::string(kFamily) + "exit 4");
  EXPECT_EQ(run_->wait(), 4) << run_->output();
  expect_gone(family_of(*run_, {"child", "self", "guard"}));
  EXPECT_TRUE(is_free());
}

TEST_F(RunLossTest, NothingIsLeftWhenRunIsKilled) {
  auto run_ = run({}, std::string(kFamily) + "trap '' TERM HUP; echo ready; wait");
  const auto pids = family_of(*run_, {"child", "stray", "self", "guard"});
  wait_for(*run_, "ready");
  ::kill(run_->pid(), SIGKILL);
  EXPECT_EQ(run_->wait(), 128 + SIGKILL);
  expect_gone(pids);
}

TEST_F(RunLossTest, NothingIsLeftWhenTheGuardIsKilled) {
  auto run_ = run({}, std::string(kFamily) + "trap '' TERM HUP; echo ready; wait");
  const auto pids = family_of(*run_, {"child", "stray", "self", "guard"});
  wait_for(*run_, "ready");
  ::kill(pids.back(), SIGKILL);
  EXPECT_EQ(run_->wait(), 125) << run_->output();
  EXPECT_THAT(run_->output(), HasSubstr("guard was killed"));
  expect_gone(pids);
  EXPECT_TRUE(is_free());
}

TEST_F(RunLossTest, WhileRunIsStoppedItsGuardEndsTheCommandInTime) {
  auto run_ = run({"--ttl", "2s", "--grace", "200ms"}, std::string(kFamily) + "echo ready; wait");
  const auto pids = family_of(*run_, {"child", "stray", "self"});
  wait_for(*run_, "ready");
  run_->pause();
  expect_gone(pids);
  // Somebody else takes over, at the latest when the server says so too.
  EXPECT_EQ(server_.take(kKey, "next", "30s", R"(,"wait":"20s")").status, 201);
  run_->resume();
  EXPECT_EQ(run_->wait(), 123) << run_->output();
  EXPECT_EQ(text_in(server_.show(kKey), "holder"), "next");
}

// All of it is paused, as with the machine under it: nothing can end the command in time. Its write
// is refused by the store.
TEST_F(RunLossTest, AZombiesWriteIsRefused) {
  const std::string url =
      fmt::format("http://127.0.0.1:{}/exports/acme/a", server_.process().port());
  auto run_ = run({"--ttl", "1s"},
                  "echo guard=$PPID; echo self=$$; read line; printf late | curl -sS -o /dev/null "
                  "-w 'status=%{http_code}\\n' -T - -H 'Transfer-Encoding:' -H 'Content-Length: 4' "
                  "-H \"Fencing-Token: $FENCING_TOKEN\" " +
                      url + "; read line");
  const auto pids = family_of(*run_, {"self", "guard"});
  run_->pause();
  for (const pid_t pid : pids) {
    ::kill(pid, SIGSTOP);
  }
  const Response taken = server_.take(kKey, "next", "30s", R"(,"wait":"20s")");
  ASSERT_EQ(taken.status, 201) << taken.body;
  ASSERT_EQ(server_.put("/exports/acme/a", token_in(taken), "new").status, 201);

  ::kill(pids.front(), SIGCONT);
  run_->feed("\n");
  wait_for(*run_, "status=412");
  EXPECT_EQ(server_.content("/exports/acme/a"), "new");

  ::kill(pids.back(), SIGCONT);
  expect_gone({pids.front()});
  run_->resume();
  EXPECT_EQ(run_->wait(), 123) << run_->output();
}

}  // namespace
}  // namespace fenceline::testing
