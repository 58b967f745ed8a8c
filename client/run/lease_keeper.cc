#include "client/run/lease_keeper.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <utility>

#include "client/run/lease_schedule.h"

namespace fenceline::client {
namespace {

using Kind = KeeperNews::Kind;
using base::Milliseconds;
using base::MonotonicTime;

/// A wait does not count the time for which the machine is suspended, so it looks at the clock in
/// between.
constexpr Milliseconds kLook{1'000};

}  // namespace

LeaseKeeper::LeaseKeeper(std::unique_ptr<TokenSource> source, LeaseOrder order, Milliseconds grace,
                         const base::Clock& clock)
    : source_(std::move(source)),
      order_(std::move(order)),
      grace_(grace),
      clock_(clock),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

LeaseKeeper::~LeaseKeeper() {
  stop();
  thread_.join();
}

std::optional<KeeperNews> LeaseKeeper::next() {
  std::uint64_t count = 0;
  (void)!::read(event_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  if (news_.empty()) {
    return std::nullopt;
  }
  KeeperNews first = std::move(news_.front());
  news_.pop_front();
  return first;
}

void LeaseKeeper::tell(KeeperNews news) {
  {
    const std::lock_guard lock(mutex_);
    news_.push_back(std::move(news));
  }
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
}

bool LeaseKeeper::wait_until(MonotonicTime time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any condition;
  std::unique_lock lock(mutex);
  for (MonotonicTime now = clock_.now(); now < time && !stop.stop_requested(); now = clock_.now()) {
    condition.wait_for(lock, stop, std::min<MonotonicTime::duration>(time - now, kLook),
                       [] { return false; });
  }
  return !stop.stop_requested();
}

void LeaseKeeper::wait_for(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    wait_until(clock_.now() + kLook, stop);
  }
}

void LeaseKeeper::work(const std::stop_token& stop) {
  if (auto warnings = source_->warnings()) {
    for (std::string& warning : *warnings) {
      tell({Kind::kWarning, {}, {base::ErrorKind::kInternal, std::move(warning)}});
    }
  }
  auto grant = source_->acquire(order_, stop);
  if (!grant) {
    tell({Kind::kRefused, {}, std::move(grant.error())});
    return;
  }
  tell({Kind::kAcquired, *grant});
  base::Error failure;
  if (keep(*grant, stop)) {
    auto released = source_->release(*grant);
    if (!released && released.error().kind != base::ErrorKind::kLeaseEnded) {
      // Once more: others would have to wait for the rest of the ttl.
      released = source_->release(*grant);
      if (!released && released.error().kind == base::ErrorKind::kLeaseEnded) {
        released = {};  // Only the first answer was lost.
      }
    }
    if (!released) {
      failure = std::move(released.error());
    }
  }
  tell({Kind::kReleased, std::move(*grant), std::move(failure)});
}

bool LeaseKeeper::keep(Grant& grant, const std::stop_token& stop) {
  KeeperView view;
  base::Error last;
  while (true) {
    view.now = clock_.now();
    view.valid_until = grant.valid_until;
    view.ttl = grant.ttl;
    view.term_at = deadlines_for(grant.valid_until, grant.ttl, grace_).term_at;
    const KeeperStep step = next_step(view);
    if (step.is_lost) {
      const bool has_ended = view.last_failure == base::ErrorKind::kLeaseEnded;
      if (!view.last_failure) {
        last.detail = "it was not renewed in time: this process or the machine was paused";
      }
      tell({Kind::kLost, grant, std::move(last)});
      wait_for(stop);
      return !has_ended;
    }
    if (!wait_until(step.renew_at, stop)) {
      return true;
    }
    if (clock_.now() >= view.term_at) {
      continue;  // The wait was a pause: it is too late.
    }
    auto renewed = source_->renew(grant, stop);
    if (renewed) {
      grant = std::move(*renewed);
      view.failures = 0;
      view.last_failure.reset();
      tell({Kind::kRenewed, grant});
      continue;
    }
    if (stop.stop_requested()) {
      return true;
    }
    last = std::move(renewed.error());
    view.last_failure = last.kind;
    if (++view.failures == 1 && last.kind != base::ErrorKind::kLeaseEnded) {
      tell({Kind::kTrouble, grant, last});
    }
  }
}

}  // namespace fenceline::client
