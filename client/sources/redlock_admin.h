#pragma once

// Who is a member of a Redlock. A server is one while it has the marker; one that has lost its data
// has lost the marker too, and grants nothing until an operator has brought it back.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "client/source_url.h"

namespace fenceline::client {

/// The highest floor that can be given: below the end of what Redis counts exactly, with room.
inline constexpr std::int64_t kMaxRedlockFloor = std::int64_t{1} << 52;

/// How much a node that comes back jumps ahead of all counters that are left: above every token
/// that was under way when it lost its own.
inline constexpr std::int64_t kResyncJump = std::int64_t{1} << 20;

struct RedlockInit {
  /// No token will be this or below: the highest mark of the fence, where tokens were given out
  /// before. 0: a new Redlock.
  std::int64_t floor = 0;
};

/// Makes all servers of `url` members, once.
/// Does: looks at all of them first; sets the marker only where there is none.
/// Success: true if markers were set, false if all had one already; then nothing was changed.
/// Failure: `kUpstreamFailed` if one of them does not answer; `kMarkConflict`, naming the server,
/// if one has counters of this prefix, or some are members and in use: then it has lost its marker,
/// and `resync_redlock` is what is needed.
base::Result<bool> init_redlock(SourceUrl url, const RedlockInit& init, std::stop_token stop);

struct RedlockResync {
  SourceHost node;  ///< One of those in the URL.
  /// Needed where fewer than a majority of the others still have their data: a number that no token
  /// so far is above, such as the highest mark of the fence.
  std::optional<std::int64_t> floor;
  /// With `floor`: how long a lock may still be held that nobody remembers.
  base::Milliseconds longest_ttl{60'000};
  /// Called before a wait, with its length; may be empty.
  std::function<void(base::Milliseconds)> on_wait;
};

struct RedlockResynced {
  std::int64_t floor = 0;    ///< Tokens that the node takes part in are above it.
  std::size_t asked = 0;     ///< Other members whose counters were read.
  std::size_t counters = 0;  ///< Locks and counters that they have, the most of one.
  base::Milliseconds waited{0};
};

/// Makes a server a member again that has lost its data, or is suspected to have lost some.
/// Does: takes its marker away; waits until every lock that a majority of the others know has
/// ended, so that no attempt is under way that the node once took part in; reads all their
/// counters; gives the node a marker with the highest of them + `kResyncJump` as its floor.
/// Success: what was done. Failure: `kMarkConflict` if fewer than a majority of the others are
/// members that answer, and no floor was given, or one below what they have; `kUpstreamFailed` if
/// the node itself does not answer; `kClientGone`. The node is no member then, which is safe; the
/// call may be repeated.
base::Result<RedlockResynced> resync_redlock(SourceUrl url, const RedlockResync& resync,
                                             const base::Clock& clock, std::stop_token stop);

}  // namespace fenceline::client
