#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "client/redis/peer.h"

namespace fenceline::client::redis {

/// One peer and what it is asked.
struct Question {
  Peer* peer;
  std::string command;
};

using Answer = std::optional<base::Result<Reply>>;

struct RoundRules {
  base::Milliseconds deadline{5'000};
  /// Looks at what has come so far: true if the rest need not be waited for any longer than
  /// `kGrace`, or as long again as it took. Empty: all are waited for.
  std::function<bool(const std::vector<Answer>&)> enough;
};

inline constexpr base::Milliseconds kGrace{50};

/// Asks all at once and waits for the answers, blocking.
/// Does: one loop over poll; ends when all have answered, when it is enough, at the deadline, or
/// soon after `stop` is requested.
/// Success: one answer for each question, in their order. A peer that has not answered has a
/// failure, `kUpstreamTimeout` or, when stopped, `kClientGone`; it still waits for its answer, and
/// `give_up` or the next `start` ends that.
std::vector<base::Result<Reply>> ask_round(std::vector<Question> questions, const RoundRules& rules,
                                           std::stop_token stop);

/// Waits, at most for `time`. True if `stop` was requested.
bool wait_or_stop(base::Milliseconds time, const std::stop_token& stop);

}  // namespace fenceline::client::redis
