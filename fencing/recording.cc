#include "fencing/recording.h"

#include <utility>

#include "base/deadline.h"

namespace fenceline::fencing {
namespace {

/// On record, and nothing has been sent: dropped, it is finished.
class UnusedIntent {
 public:
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

}  // namespace

base::Awaitable<base::Result<RunningIntent>> put_on_record(Intents& intents, Intent intent,
                                                           bool shared, base::TimerWheel& timers,
                                                           base::Milliseconds deadline) {
  base::Error late{base::ErrorKind::kLedgerUnavailable,
                   "The ledger did not put this write on record in time, and nothing was written. "
                   "Try again later.",
                   base::Applied::kNo,
                   {}};
  const auto start = [&intents, &intent, shared](base::Done<base::Result<UnusedIntent>> done) {
    intents.begin(std::move(intent), shared,
                  [done = std::move(done)](base::Result<RunningIntent> running) {
                    done(std::move(running).map(
                        [](RunningIntent&& put) { return UnusedIntent(std::move(put)); }));
                  });
  };
  auto answer =
      co_await base::answer_within<UnusedIntent>(timers, deadline, std::move(late), start);
  if (!answer) {
    co_return base::pass_on(answer.error());
  }
  co_return answer->use();
}

}  // namespace fenceline::fencing
