#include "fencing/lease/lease_refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace fenceline::fencing {
namespace {

using base::ErrorKind;

std::uint32_t whole_seconds(base::Milliseconds span) {
  return static_cast<std::uint32_t>(std::max<std::chrono::seconds::rep>(
      1, std::chrono::ceil<std::chrono::seconds>(span).count()));
}

struct Obstacle {
  std::string text;
  base::Milliseconds at_most{0};
};

Obstacle obstacle_by(const Bid& bid, const base::FenceKey& key, const Lease& wanted,
                     base::MonotonicTime now) {
  const bool own = bid.lease.holder == wanted.holder;
  const std::string who =
      own ? fmt::format(
                "this holder, {}, itself, under another request id (leases are not "
                "reentrant)",
                bid.lease.holder)
          : bid.lease.holder;
  switch (bid.state) {
    case Bid::State::kHeld: {
      const auto left = std::chrono::ceil<base::Milliseconds>(bid.due - now);
      return {fmt::format("The key {} is held by {}, for at most {} s unless the lease is renewed.",
                          key.text(), who, whole_seconds(left)),
              left};
    }
    case Bid::State::kEnding:
      return {fmt::format("The lease on the key {} has been revoked; older writes are leaving.",
                          key.text()),
              bid.lease.lock_delay};
    default:
      return {fmt::format("The key {} is just being granted to {}.", key.text(), who),
              bid.lease.ttl};
  }
}

/// Who has one key, or what keeps it closed; an empty text if it is free.
Obstacle obstacle_on(const LeaseBook& book, const base::FenceKey& key, const Lease& wanted,
                     base::MonotonicTime now) {
  if (const Bid* const holder = book.holder_of(key)) {
    return obstacle_by(*holder, key, wanted, now);
  }
  if (const auto left = book.lock_delay_left(key, now); left.count() > 0) {
    return {fmt::format("The key {} is closed for {} s by a lock-delay: its last lease was not "
                        "released by its holder.",
                        key.text(), whole_seconds(left)),
            left};
  }
  return {};
}

base::Error error_of(ErrorKind kind, std::string detail) {
  return base::Error{kind, std::move(detail), base::Applied::kNo};
}

}  // namespace

base::Error lease_held(const LeaseBook& book, const Lease& wanted, base::MonotonicTime now) {
  Obstacle first;
  base::Milliseconds at_most{0};
  for (const base::FenceKey& key : wanted.keys) {
    Obstacle obstacle = obstacle_on(book, key, wanted, now);
    at_most = std::max(at_most, obstacle.at_most);
    if (first.text.empty()) {
      first = std::move(obstacle);
    }
  }
  if (first.text.empty()) {
    first.text = "Others are before you in line: they wait for these keys and for others.";
  }
  base::Error error =
      error_of(ErrorKind::kLeaseHeld, first.text + " Ask again later, or wait for it.");
  error.retry_after_s = whole_seconds(at_most);
  return error;
}

base::Error lease_ended() {
  return error_of(ErrorKind::kLeaseEnded,
                  "There is no such lease on this key any more: it has expired, or was released or "
                  "revoked. Stop what relies on it, and take a new one.");
}

base::Error attempt_ended() {
  return error_of(
      ErrorKind::kLeaseEnded,
      "The lease of this request id has ended. Take a new one with another request id.");
}

base::Error attempt_repeated() {
  return error_of(ErrorKind::kLeaseHeld,
                  "A later call with the same holder and request id has taken this one's place in "
                  "the line.");
}

}  // namespace fenceline::fencing
