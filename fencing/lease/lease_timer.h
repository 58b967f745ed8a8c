#pragma once

#include <functional>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace fenceline::fencing {

/// Keeps time for a lessor: one thread, which sleeps in the kernel on CLOCK_BOOTTIME, so that it
/// wakes at once when the machine comes back from suspend. Times are those of a `BoottimeClock`.
///
///     LeaseTimer timer;
///     parts.due_sooner = [&timer] { timer.wake(); };
///     … open_lessor(parts, limits) …
///     timer.start([&lessor] { return lessor.run_due(); });
class LeaseTimer {
 public:
  /// Throws `std::system_error` if the kernel gives no timer.
  LeaseTimer();
  /// Stops.
  ~LeaseTimer();
  LeaseTimer(const LeaseTimer&) = delete;
  LeaseTimer& operator=(const LeaseTimer&) = delete;

  /// Begins to call `run`, on the timer's thread: now, whenever the time comes that it gave last,
  /// and after each `wake`. Once.
  void start(std::function<std::optional<base::MonotonicTime>()> run);

  /// Something is due sooner. Thread-safe, also before `start` and inside `run`; does not block.
  void wake();

  /// Ends the thread; `run` is not called any more. Not from inside `run`. Idempotent.
  void stop();

 private:
  void serve(const std::function<std::optional<base::MonotonicTime>()>& run,
             const std::stop_token& stopping);

  base::UniqueFd timer_;
  base::UniqueFd woken_;
  std::jthread thread_;
};

}  // namespace fenceline::fencing
