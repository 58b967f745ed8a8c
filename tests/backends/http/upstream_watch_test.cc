#include "backends/http/upstream_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>

#include "tests/support/server_process.h"

namespace fenceline::backends::http {
namespace {

using base::Error;
using base::ErrorKind;
using base::Milliseconds;
using base::Result;
using testing::wait_until;

class StepClock final : public base::Clock {
 public:
  [[nodiscard]] base::MonotonicTime now() const override {
    return base::MonotonicTime(Milliseconds(time_ms.load()));
  }
  std::atomic<int> time_ms = 1'000;
};

/// Gives what it is told to; counts.
class Script {
 public:
  void then(Result<ProbeVerdict> verdict) {
    const std::scoped_lock lock(mutex_);
    verdicts_.push_back(std::move(verdict));
  }
  Result<ProbeVerdict> next() {
    const std::scoped_lock lock(mutex_);
    ++calls;
    if (verdicts_.empty()) {
      return base::fail(ErrorKind::kUpstreamFailed, "refused");
    }
    auto verdict = std::move(verdicts_.front());
    verdicts_.pop_front();
    return verdict;
  }
  std::atomic<int> calls = 0;

 private:
  std::mutex mutex_;
  std::deque<Result<ProbeVerdict>> verdicts_;
};

ProbeVerdict server_that_moves(std::string server, bool moves) {
  ProbeVerdict verdict;
  verdict.server = std::move(server);
  verdict.no_move = moves ? std::nullopt : std::optional<std::string>("it does not");
  return verdict;
}

class Watched : public ::testing::Test {
 protected:
  std::unique_ptr<UpstreamWatch> watch(HttpOptions options = {}) {
    return std::make_unique<UpstreamWatch>(
        std::move(options), [this](const std::atomic<bool>&) { return script.next(); }, clock);
  }
  StepClock clock;
  Script script;
};

const Error kRefused{.kind = ErrorKind::kUpstreamFailed, .detail = "refused"};

TEST_F(Watched, ProbesAtTheStart) {
  script.then(server_that_moves("nginx", true));
  const auto watched = watch();
  ASSERT_TRUE(watched->standing());
  EXPECT_EQ(watched->standing()->put, CommitMode::kMove);
  EXPECT_FALSE(watched->out_of_service());
}

TEST_F(Watched, AsksNobodyWhereNothingIsToBeProbed) {
  HttpOptions options;
  options.commit = CommitMode::kPlain;
  const auto watched = watch(options);
  EXPECT_TRUE(watched->standing());
  EXPECT_EQ(script.calls, 0);
}

TEST_F(Watched, TakesNoWritesUntilAProbeHasSucceeded) {
  HttpOptions options;
  options.probe_again = Milliseconds(1);
  const auto watched = watch(options);
  EXPECT_FALSE(watched->standing());
  ASSERT_TRUE(watched->out_of_service());
  EXPECT_NE(watched->out_of_service()->find("refused"), std::string::npos);
  script.then(server_that_moves("nginx", true));
  clock.time_ms += 10;
  wait_until("a probe to succeed", [&] {
    clock.time_ms += 10;
    return watched->standing() != nullptr;
  });
  EXPECT_FALSE(watched->out_of_service());
}

TEST_F(Watched, AnotherServerIsProbedAgain) {
  script.then(server_that_moves("nginx", true));
  const auto watched = watch();
  script.then(server_that_moves("Apache", false));
  watched->answered("Apache");
  EXPECT_EQ(script.calls, 1) << "nothing has failed";
  watched->failed(kRefused);
  EXPECT_TRUE(watched->standing()) << "a failure alone says nothing new";
  watched->answered("Apache");
  wait_until("the second probe", [&] { return watched->standing() != nullptr; });
  EXPECT_EQ(script.calls, 2);
  EXPECT_EQ(watched->standing()->put, CommitMode::kPlain);
}

TEST_F(Watched, AWeakerServerThanTheRouteRequiresIsNotWrittenTo) {
  HttpOptions options;
  options.methods = {"GET", "PUT"};
  options.required = Guarantee::kStrict;
  options.probe_again = Milliseconds(1);
  script.then(server_that_moves("nginx", true));
  const auto watched = watch(options);
  ASSERT_TRUE(watched->standing());
  script.then(server_that_moves("Apache", false));
  watched->failed(kRefused);
  watched->answered("Apache");
  wait_until("the second probe", [&] { return script.calls >= 2; });
  wait_until("its verdict", [&] {
    return watched->out_of_service().value_or("").find("requires strict") != std::string::npos;
  });
  EXPECT_FALSE(watched->standing());
  script.then(server_that_moves("nginx", true));
  wait_until("the right server to be there again", [&] {
    clock.time_ms += 10;
    return watched->standing() != nullptr;
  });
  EXPECT_FALSE(watched->out_of_service());
}

TEST_F(Watched, TheSameServerAfterAShortFailureIsNot) {
  script.then(server_that_moves("nginx", true));
  const auto watched = watch();
  watched->failed(kRefused);
  clock.time_ms += 9'999;
  watched->answered("nginx");
  EXPECT_TRUE(watched->standing());
  EXPECT_EQ(script.calls, 1);
}

TEST_F(Watched, AfterALongFailureItIs) {
  script.then(server_that_moves("nginx", true));
  const auto watched = watch();
  watched->failed(kRefused);
  clock.time_ms += 5'000;
  watched->failed(kRefused);
  clock.time_ms += 5'000;
  script.then(server_that_moves("nginx", false));
  watched->answered("nginx");
  wait_until("the second probe", [&] { return script.calls == 2 && watched->standing(); });
  EXPECT_EQ(watched->standing()->put, CommitMode::kPlain);
}

TEST_F(Watched, WhatTheClientDidWrongIsNoFailure) {
  script.then(server_that_moves("nginx", true));
  const auto watched = watch();
  watched->failed({.kind = ErrorKind::kOverloaded, .detail = "busy"});
  watched->answered("Apache");
  EXPECT_TRUE(watched->standing());
  EXPECT_EQ(script.calls, 1);
}

}  // namespace
}  // namespace fenceline::backends::http
