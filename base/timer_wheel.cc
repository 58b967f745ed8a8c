#include "base/timer_wheel.h"

#include <algorithm>
#include <utility>

namespace fenceline::base {
namespace {

// A power of two; with ticks of 50 ms one turn is 25 s. Longer time-outs stay in their slot and are
// looked at once per turn.
constexpr std::size_t kSlots = 512;

}  // namespace

TimerWheel::TimerWheel(Milliseconds tick, MonotonicTime now)
    : tick_(std::max(tick, Milliseconds(1))), start_(now), now_(now), slots_(kSlots) {}

TimerWheel::~TimerWheel() = default;

std::uint64_t TimerWheel::ticks_until(MonotonicTime time) const {
  return static_cast<std::uint64_t>((time - start_) / tick_);
}

void TimerWheel::advance(MonotonicTime now) {
  if (now <= now_) {
    return;
  }
  now_ = now;
  const std::uint64_t target = ticks_until(now);
  // After a long pause one turn finds everything: whatever is due lies in one of the slots.
  if (target - current_ > kSlots) {
    current_ = target - kSlots;
  }
  while (current_ < target) {
    ++current_;
    fire_slot(slots_[current_ % kSlots]);
  }
}

void TimerWheel::fire_slot(Slot& slot) {
  // The timers move to a list of their own first: a callback may unlink any of them, and one that
  // is armed again for this very slot must wait for the next turn.
  Slot pending;
  pending.swap(slot);
  while (!pending.empty()) {
    Timer& timer = pending.front();
    pending.pop_front();
    if (timer.due_ > current_) {
      slot.push_back(timer);
      continue;
    }
    --armed_;
    // A copy, because the callback may destroy its timer and with it the function that runs.
    const std::function<void()> fire = timer.fire_;
    fire();
  }
}

void TimerWheel::arm(Timer& timer, Milliseconds after) {
  const MonotonicTime due = now_ + std::max(after, Milliseconds(0));
  std::uint64_t ticks = ticks_until(due);
  if (start_ + tick_ * static_cast<Milliseconds::rep>(ticks) < due) {
    ++ticks;
  }
  // Never a tick that `advance` has reached or is about to reach: "fires again and again at once"
  // would keep it from coming back.
  timer.due_ = std::max(ticks, ticks_until(now_) + 1);
  slots_[timer.due_ % kSlots].push_back(timer);
  ++armed_;
}

Timer::Timer(TimerWheel& wheel, std::function<void()> fire)
    : wheel_(wheel), fire_(std::move(fire)) {}

Timer::~Timer() { disarm(); }

void Timer::arm(Milliseconds after) {
  disarm();
  wheel_.arm(*this, after);
}

void Timer::disarm() {
  if (is_linked()) {
    unlink();
    --wheel_.armed_;
  }
}

}  // namespace fenceline::base
