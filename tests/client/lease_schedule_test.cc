#include "client/run/lease_schedule.h"

#include <gtest/gtest.h>

#include <ostream>
#include <vector>

namespace fenceline::client {
namespace {

using base::ErrorKind;
using base::Milliseconds;
using base::MonotonicTime;

MonotonicTime at(int ms) { return MonotonicTime(Milliseconds(ms)); }

int ms_of(MonotonicTime time) {
  return static_cast<int>(
      std::chrono::duration_cast<Milliseconds>(time.time_since_epoch()).count());
}

// A lease of 30 s taken at 0, whose command is told to end at 25 s.
struct StepCase {
  const char* what;
  int now;
  int failures;
  std::optional<ErrorKind> failure;
  int renew_at;  // -1: lost.
};

TEST(LeaseSchedule, WhatTheKeeperDoesWhen) {
  const std::vector<StepCase> cases = {
      {"just granted", 0, 0, {}, 10'000},
      {"later", 9'999, 0, {}, 10'000},
      {"a third has passed unseen", 12'000, 0, {}, 12'000},
      {"one failure", 10'000, 1, ErrorKind::kUpstreamFailed, 10'300},
      {"a second", 10'300, 2, ErrorKind::kUpstreamTimeout, 10'900},
      {"a third", 10'900, 3, ErrorKind::kUpstreamFailed, 12'100},
      {"many: a tenth of the ttl", 15'000, 30, ErrorKind::kUpstreamFailed, 18'000},
      {"what is no answer about the lease", 10'000, 1, ErrorKind::kUnauthorized, 10'300},
      {"an error of ours", 10'000, 1, ErrorKind::kInternal, 10'300},
      {"the last try is before the end", 24'000, 9, ErrorKind::kUpstreamFailed, 25'000},
      {"the source says it is lost", 10'000, 1, ErrorKind::kLeaseEnded, -1},
      {"the command is being ended", 25'000, 9, ErrorKind::kUpstreamFailed, -1},
      {"a long pause", 90'000, 0, {}, -1},
  };
  for (const StepCase& each : cases) {
    KeeperView view;
    view.now = at(each.now);
    view.valid_until = at(30'000);
    view.term_at = at(25'000);
    view.ttl = Milliseconds(30'000);
    view.failures = each.failures;
    view.last_failure = each.failure;
    const KeeperStep step = next_step(view);
    EXPECT_EQ(step.is_lost, each.renew_at < 0) << each.what;
    if (!step.is_lost) {
      EXPECT_EQ(ms_of(step.renew_at), each.renew_at) << each.what;
    }
  }
}

TEST(LeaseSchedule, KillFallsBeforeTheEndOfTheLease) {
  const Deadlines roomy = deadlines_for(at(30'000), Milliseconds(30'000), Milliseconds(5'000));
  EXPECT_EQ(ms_of(roomy.kill_at), 29'950);
  EXPECT_EQ(ms_of(roomy.term_at), 24'950);
  // A grace that the ttl has no room for is cut: two thirds remain for renewals.
  const Deadlines narrow = deadlines_for(at(3'000), Milliseconds(3'000), Milliseconds(5'000));
  EXPECT_EQ(ms_of(narrow.kill_at), 2'950);
  EXPECT_EQ(ms_of(narrow.term_at), 1'950);
  const Deadlines tiny = deadlines_for(at(100), Milliseconds(100), Milliseconds(0));
  EXPECT_EQ(ms_of(tiny.kill_at), 90);
  EXPECT_EQ(tiny.term_at, tiny.kill_at);
}

TEST(LeaseSchedule, AfterALossThereIsNoTimeBeyondTheLease) {
  const Milliseconds grace(5'000);
  const Deadlines early = deadlines_after_loss(at(1'000), at(30'000), grace);
  EXPECT_EQ(ms_of(early.term_at), 1'000);
  EXPECT_EQ(ms_of(early.kill_at), 6'000);
  EXPECT_EQ(ms_of(deadlines_after_loss(at(28'000), at(30'000), grace).kill_at), 30'000);
  const Deadlines woken = deadlines_after_loss(at(90'000), at(30'000), grace);
  EXPECT_EQ(ms_of(woken.term_at), 90'000);
  EXPECT_EQ(ms_of(woken.kill_at), 90'000);
}

}  // namespace
}  // namespace fenceline::client
