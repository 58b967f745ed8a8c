#pragma once

#include <optional>

#include "base/clock.h"
#include "base/error.h"

namespace fenceline::client {

/// When the command has to be ended if no renewal comes: TERM, and some time later KILL.
struct Deadlines {
  base::MonotonicTime term_at;
  base::MonotonicTime kill_at;

  friend bool operator==(const Deadlines&, const Deadlines&) = default;
};

/// For a lease that is surely held until `valid_until`. KILL falls before its end, and TERM as long
/// before it as the command may take to end, but at most a third of the ttl: the rest is for
/// renewals. Pure.
Deadlines deadlines_for(base::MonotonicTime valid_until, base::Milliseconds ttl,
                        base::Milliseconds grace);

/// For a lease that was found lost at `now`. Whoever has it next may already write, or nobody yet
/// (until `valid_until` the old holder may have believed in it): TERM at once, KILL after the grace
/// but not after `valid_until`, which is at once if that is over. Pure.
Deadlines deadlines_after_loss(base::MonotonicTime now, base::MonotonicTime valid_until,
                               base::Milliseconds grace);

/// What is known when the next step is decided.
struct KeeperView {
  base::MonotonicTime now;
  base::MonotonicTime valid_until;
  base::MonotonicTime term_at;  ///< From then on the command is being ended: it is lost.
  base::Milliseconds ttl{0};
  int failures = 0;  ///< In a row, since the last renewal.
  std::optional<base::ErrorKind> last_failure = {};
};

/// What the keeper does next: renews at a time, or gives the lease up.
struct KeeperStep {
  bool is_lost = false;
  base::MonotonicTime renew_at = {};

  friend bool operator==(const KeeperStep&, const KeeperStep&) = default;
};

/// A third of the ttl after the last renewal; after a failure again and again, less and less often,
/// until the command is being ended. Only `kLeaseEnded` says that it is lost. Pure.
KeeperStep next_step(const KeeperView& view);

}  // namespace fenceline::client
