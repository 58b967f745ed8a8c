#include "client/run/lease_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <tuple>

#include "base/boottime_clock.h"
#include "tests/support/server_process.h"

namespace fenceline::testing {
namespace {

using base::ErrorKind;
using base::Milliseconds;
using base::Result;
using client::Grant;
using client::HeldBy;
using client::KeeperNews;
using client::LeaseKeeper;
using client::LeaseOrder;

constexpr Milliseconds kTtl{300};

/// What a source would say, without one.
class ScriptedSource final : public client::TokenSource {
 public:
  struct Script {
    std::mutex mutex;
    std::optional<ErrorKind> acquire = {};
    std::deque<ErrorKind> renewals = {};  ///< Failures; afterwards `otherwise`.
    std::optional<ErrorKind> otherwise = {};
    int renewed = 0;
    int released = 0;
    std::deque<ErrorKind> releases = {};  ///< Failures; afterwards it works.
  };

  ScriptedSource(Script& script, const base::Clock& clock) : script_(script), clock_(clock) {}

  Result<Grant> acquire(const LeaseOrder& order, std::stop_token /*stop*/) override {
    if (script_.acquire) {
      return base::fail(*script_.acquire, "as scripted");
    }
    return Grant{order.keys, "lease", base::Token::of(7), kTtl, clock_.now() + kTtl};
  }

  Result<Grant> renew(const Grant& grant, std::stop_token /*stop*/) override {
    const std::lock_guard lock(script_.mutex);
    std::optional<ErrorKind> failure = script_.otherwise;
    if (!script_.renewals.empty()) {
      failure = script_.renewals.front();
      script_.renewals.pop_front();
    }
    if (failure) {
      return base::fail(*failure, "as scripted");
    }
    ++script_.renewed;
    Grant renewed = grant;
    renewed.valid_until = clock_.now() + kTtl;
    return renewed;
  }

  Result<void> release(const Grant& /*grant*/) override {
    const std::lock_guard lock(script_.mutex);
    ++script_.released;
    if (!script_.releases.empty()) {
      const ErrorKind failure = script_.releases.front();
      script_.releases.pop_front();
      return base::fail(failure, "as scripted");
    }
    return {};
  }

  Result<std::optional<HeldBy>> show(const base::FenceKey& /*key*/) override {
    return std::optional<HeldBy>();
  }
  Result<std::vector<std::string>> warnings() override {
    return std::vector<std::string>{"beware"};
  }
  [[nodiscard]] std::string_view scheme() const override { return "scripted"; }

 private:
  Script& script_;
  const base::Clock& clock_;
};

class LeaseKeeperTest : public ::testing::Test {
 protected:
  void start() {
    LeaseOrder order;
    order.keys = {base::FenceKey::parse("k").value()};
    keeper_ = std::make_unique<LeaseKeeper>(std::make_unique<ScriptedSource>(script_, clock_),
                                            std::move(order), Milliseconds(50), clock_);
  }

  KeeperNews next() {
    std::optional<KeeperNews> news;
    wait_until("the keeper to say something", [&] {
      news = keeper_->next();
      return news.has_value();
    });
    return *news;
  }

  KeeperNews next_but_renewals() {
    KeeperNews news = next();
    while (news.kind == KeeperNews::Kind::kRenewed) {
      news = next();
    }
    return news;
  }

  void expect_start() {
    EXPECT_EQ(next().kind, KeeperNews::Kind::kWarning);
    EXPECT_EQ(next().kind, KeeperNews::Kind::kAcquired);
  }

  base::BoottimeClock clock_;
  ScriptedSource::Script script_;
  std::unique_ptr<LeaseKeeper> keeper_;
};

TEST_F(LeaseKeeperTest, RenewsUntilItIsStoppedAndReleases) {
  start();
  expect_start();
  for (int i = 0; i < 3; ++i) {
    const KeeperNews news = next();
    EXPECT_EQ(news.kind, KeeperNews::Kind::kRenewed);
    EXPECT_GT(news.grant.valid_until, clock_.now());
  }
  keeper_->stop();
  EXPECT_EQ(next_but_renewals().kind, KeeperNews::Kind::kReleased);
  EXPECT_EQ(script_.released, 1);
}

TEST_F(LeaseKeeperTest, AReleaseIsTriedOnceMore) {
  using Failures = std::deque<ErrorKind>;
  const std::tuple<Failures, int, bool> cases[] = {
      {{ErrorKind::kUpstreamFailed}, 2, true},
      {{ErrorKind::kUpstreamTimeout, ErrorKind::kLeaseEnded}, 2, true},
      {{ErrorKind::kUpstreamFailed, ErrorKind::kUpstreamFailed}, 2, false},
      {{ErrorKind::kLeaseEnded}, 1, false},
  };
  for (const auto& [failures, calls, succeeds] : cases) {
    script_.releases = failures;
    script_.released = 0;
    start();
    expect_start();
    keeper_->stop();
    const KeeperNews news = next_but_renewals();
    EXPECT_EQ(news.kind, KeeperNews::Kind::kReleased);
    EXPECT_EQ(news.error.detail.empty(), succeeds);
    EXPECT_EQ(script_.released, calls);
  }
}

TEST_F(LeaseKeeperTest, SaysOnceThatItHasTroubleAndGoesOn) {
  script_.renewals = {ErrorKind::kUpstreamFailed, ErrorKind::kUpstreamTimeout};
  start();
  expect_start();
  EXPECT_EQ(next().kind, KeeperNews::Kind::kTrouble);
  EXPECT_EQ(next().kind, KeeperNews::Kind::kRenewed);
}

TEST_F(LeaseKeeperTest, GivesUpBeforeTheLeaseIsOver) {
  script_.otherwise = ErrorKind::kUpstreamFailed;
  start();
  expect_start();
  EXPECT_EQ(next().kind, KeeperNews::Kind::kTrouble);
  const KeeperNews lost = next();
  EXPECT_EQ(lost.kind, KeeperNews::Kind::kLost);
  EXPECT_EQ(lost.error.detail, "as scripted");
  keeper_->stop();
  EXPECT_EQ(next().kind, KeeperNews::Kind::kReleased);
  EXPECT_EQ(script_.released, 1) << "it may still be held, and others wait";
}

TEST_F(LeaseKeeperTest, WhatHasEndedIsNotReleased) {
  script_.otherwise = ErrorKind::kLeaseEnded;
  start();
  expect_start();
  EXPECT_EQ(next().kind, KeeperNews::Kind::kLost);
  keeper_->stop();
  EXPECT_EQ(next().kind, KeeperNews::Kind::kReleased);
  EXPECT_EQ(script_.released, 0);
}

TEST_F(LeaseKeeperTest, WithoutALeaseThereIsNothingToKeep) {
  script_.acquire = ErrorKind::kLeaseHeld;
  start();
  EXPECT_EQ(next().kind, KeeperNews::Kind::kWarning);
  const KeeperNews refused = next();
  EXPECT_EQ(refused.kind, KeeperNews::Kind::kRefused);
  EXPECT_EQ(refused.error.kind, ErrorKind::kLeaseHeld);
  keeper_.reset();
  EXPECT_EQ(script_.released, 0);
}

TEST_F(LeaseKeeperTest, GoesWithoutBeingAsked) {
  start();
  expect_start();
  keeper_.reset();
  EXPECT_EQ(script_.released, 1);
}

}  // namespace
}  // namespace fenceline::testing
