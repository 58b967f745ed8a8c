#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/clock.h"

namespace fenceline::base {

class Timer;

/// Coarse time-outs for one core: arming and disarming cost a few instructions and no system call.
/// A timer fires up to one tick late and never early. Single-threaded: one wheel per io_context.
class TimerWheel {
 public:
  /// `tick`: resolution, e.g. 50 ms. `now`: the time the wheel starts at.
  TimerWheel(Milliseconds tick, MonotonicTime now);
  ~TimerWheel();
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  /// Fires every timer that is due at `now`, in slot order. A callback may arm, disarm and destroy
  /// timers, also its own. Time that goes backwards is ignored.
  void advance(MonotonicTime now);

  [[nodiscard]] Milliseconds tick() const { return tick_; }

  /// The number of armed timers.
  [[nodiscard]] std::size_t armed() const { return armed_; }

 private:
  friend class Timer;
  using Hook =
      boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
  using Slot = boost::intrusive::list<Timer, boost::intrusive::constant_time_size<false>>;

  void arm(Timer& timer, Milliseconds after);
  [[nodiscard]] std::uint64_t ticks_until(MonotonicTime time) const;
  void fire_slot(Slot& slot);

  Milliseconds tick_;
  MonotonicTime start_;
  MonotonicTime now_;          ///< The last time that `advance` was given.
  std::uint64_t current_ = 0;  ///< Ticks since `start_` that have been handled.
  std::size_t armed_ = 0;
  std::vector<Slot> slots_;
};

/// One time-out that is armed again and again: a member of whatever waits.
/// Must be destroyed before its wheel. Single-threaded, like the wheel.
class Timer : public TimerWheel::Hook {
 public:
  /// `fire` is called on each expiry; it may disarm, re-arm or destroy this timer.
  Timer(TimerWheel& wheel, std::function<void()> fire);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// (Re)arms: fires once, `after` from the wheel's current time, rounded up to a tick.
  /// `after` of 0 or less means the next tick.
  void arm(Milliseconds after);

  /// Does not fire until armed again.
  void disarm();

  [[nodiscard]] bool armed() const { return is_linked(); }

 private:
  friend class TimerWheel;
  TimerWheel& wheel_;
  std::function<void()> fire_;
  std::uint64_t due_ = 0;
};

}  // namespace fenceline::base
