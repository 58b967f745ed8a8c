#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "base/async.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/timer_wheel.h"

namespace fenceline::base {

/// Whichever of two answers comes first counts; the other one is dropped. Thread-safe.
template <typename T>
struct FirstAnswer {
  std::atomic<bool> given = false;
  Done<Result<T>> done;

  void give(Result<T> answer) {
    if (!given.exchange(true)) {
      done(std::move(answer));
    }
  }
};

/// Suspends the caller until a callback was called or the deadline has passed.
///
/// Does: calls `start(done)`; `done` may be called from any thread, also after the deadline: then
/// its value is destroyed, so T must be something that may be dropped.
/// Success: what `done` got. Failure: what `done` got, or `late` at the deadline.
/// Concurrency: a coroutine of the core that owns `timers`; what `start` captures by reference must
/// outlive the call, what it hands on to others must own what it touches.
template <typename T, typename Start>
Awaitable<Result<T>> answer_within(TimerWheel& timers, Milliseconds deadline, Error late,
                                   Start start) {
  auto first = std::make_shared<FirstAnswer<T>>();
  const auto give_up = [first, late] { first->give(tl::unexpected<Error>(late)); };
  Timer timer(timers, give_up);
  const auto begin = [&timer, deadline, first, &start](Done<Result<T>> done) {
    first->done = std::move(done);
    timer.arm(deadline);
    start(Done<Result<T>>([first](Result<T> answer) { first->give(std::move(answer)); }));
  };
  auto answer = co_await from_callback<Result<T>>(begin);
  co_return answer;
}

}  // namespace fenceline::base
