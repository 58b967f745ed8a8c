#include "client/run/lease_schedule.h"

#include <algorithm>

namespace fenceline::client {
namespace {

using base::Milliseconds;
using base::MonotonicTime;

/// What the kernel and the last write of a killed process may take.
constexpr Milliseconds kMargin{50};
constexpr Milliseconds kShortestPause{50};
constexpr Milliseconds kLongestPause{5'000};
constexpr int kDoublings = 8;

/// Back-off after so many failures: from a hundredth of the ttl to a tenth.
Milliseconds pause_after(int failures, Milliseconds ttl) {
  const Milliseconds first = std::max(ttl / 100, kShortestPause);
  const Milliseconds longest = std::clamp(ttl / 10, kShortestPause, kLongestPause);
  return std::min(first * (1 << std::clamp(failures - 1, 0, kDoublings)), longest);
}

}  // namespace

Deadlines deadlines_for(MonotonicTime valid_until, Milliseconds ttl, Milliseconds grace) {
  const Milliseconds margin = std::min(kMargin, ttl / 10);
  const MonotonicTime kill_at = valid_until - margin;
  return {kill_at - std::min(grace, ttl / 3), kill_at};
}

Deadlines deadlines_after_loss(MonotonicTime now, MonotonicTime valid_until, Milliseconds grace) {
  return {now, std::min(now + grace, std::max(now, valid_until))};
}

KeeperStep next_step(const KeeperView& view) {
  const bool ended = view.last_failure == base::ErrorKind::kLeaseEnded;
  if (ended || view.now >= view.term_at) {
    return {.is_lost = true};
  }
  const MonotonicTime due = view.failures == 0
                                ? std::max(view.now, view.valid_until - view.ttl + view.ttl / 3)
                                : view.now + pause_after(view.failures, view.ttl);
  return {.renew_at = std::min(due, view.term_at)};
}

}  // namespace fenceline::client
