#include "fencing/recording.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/deadline.h"

namespace fenceline::fencing {
namespace {

/// On record, and nothing has been sent: dropped, it is finished.
class UnusedIntent {
 public:
  UnusedIntent() = default;
  explicit UnusedIntent(RunningIntent running) : running_(std::move(running)) {}
  UnusedIntent(UnusedIntent&&) = default;
  UnusedIntent& operator=(UnusedIntent&& other) noexcept {
    running_.finish();
    running_ = std::move(other.running_);
    return *this;
  }
  ~UnusedIntent() { running_.finish(); }

  RunningIntent use() { return std::move(running_); }

 private:
  RunningIntent running_;
};

using Unused = std::vector<UnusedIntent>;

/// Gathers what comes of several writes. Thread-safe: the ledger answers on a thread of its own.
class Gathering {
 public:
  Gathering(std::size_t writes, base::Done<base::Result<Unused>> done)
      : left_(writes), put_(writes), done_(std::move(done)) {}

  void take(std::size_t at, base::Result<RunningIntent> one) {
    {
      const std::scoped_lock lock(mutex_);
      if (one) {
        put_[at] = UnusedIntent(std::move(*one));
      } else if (!failure_) {
        failure_ = std::move(one.error());
      }
      if (--left_ > 0) {
        return;
      }
    }
    // Nobody else comes any more.
    if (failure_) {
      put_.clear();
      done_(tl::unexpected<base::Error>(*std::move(failure_)));
    } else {
      done_(std::move(put_));
    }
  }

 private:
  std::mutex mutex_;
  std::size_t left_;
  Unused put_;
  std::optional<base::Error> failure_;
  base::Done<base::Result<Unused>> done_;
};

}  // namespace

base::Awaitable<base::Result<std::vector<RunningIntent>>> put_on_record(
    Intents& intents, std::vector<Intent> writes, bool shared, base::TimerWheel& timers,
    base::Milliseconds deadline) {
  base::Error late{base::ErrorKind::kLedgerUnavailable,
                   "The ledger did not put this write on record in time, and nothing was written. "
                   "Try again later.",
                   base::Applied::kNo,
                   {}};
  const auto start = [&intents, &writes, shared](base::Done<base::Result<Unused>> done) {
    // The last answer may let the caller go on, on another thread, and `writes` with it.
    std::vector<Intent> all = std::move(writes);
    const auto gathering = std::make_shared<Gathering>(all.size(), std::move(done));
    for (std::size_t i = 0; i < all.size(); ++i) {
      intents.begin(std::move(all[i]), shared, [gathering, i](base::Result<RunningIntent> running) {
        gathering->take(i, std::move(running));
      });
    }
  };
  auto answer = co_await base::answer_within<Unused>(timers, deadline, std::move(late), start);
  if (!answer) {
    co_return base::pass_on(answer.error());
  }
  std::vector<RunningIntent> running;
  running.reserve(answer->size());
  for (UnusedIntent& each : *answer) {
    running.push_back(each.use());
  }
  co_return running;
}

}  // namespace fenceline::fencing
