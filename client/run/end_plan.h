#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "client/run/lease_schedule.h"

namespace fenceline::client {

/// When the processes of a command are told to end, and when they are killed. Pure: it is told what
/// happens, and asked what to do. Once begun, an end is never taken back.
class EndPlan {
 public:
  enum class Action : std::uint8_t { kNothing, kTerm, kKill };

  /// The lease is held: until then nothing is done. Ignored once the end has begun.
  void hold(const Deadlines& deadlines);

  /// The lease is lost.
  void lose(const Deadlines& deadlines);

  /// The command itself has ended; what it left behind gets `grace`, but no more than the lease.
  void command_ended(base::MonotonicTime now, base::Milliseconds grace);

  /// Nobody renews the lease any more, or wants to know how it ends: all is killed.
  void abandon(base::MonotonicTime now);

  /// What is due; `kTerm` once, `kKill` again and again.
  Action due(base::MonotonicTime now);

  /// When `due` is to be asked next; nothing before the first `hold`.
  [[nodiscard]] std::optional<base::MonotonicTime> next() const;

  /// The end has begun because of the lease, and not because the command had ended.
  [[nodiscard]] bool is_lost() const { return is_lost_; }

 private:
  enum class Phase : std::uint8_t { kHeld, kEnding, kTermSent };

  std::optional<Deadlines> deadlines_;
  Phase phase_ = Phase::kHeld;
  bool has_ended_ = false;
  bool is_lost_ = false;
};

}  // namespace fenceline::client
