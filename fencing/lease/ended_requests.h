#pragma once

#include <cstddef>
#include <string>

#include "base/clock.h"
#include "fencing/lease/expiry_queue.h"
#include "fencing/lease/lease.h"

namespace fenceline::fencing {

/// Names an attempt: holder and request id in one text.
std::string attempt_name(const std::string& holder, const std::string& request_id);

/// Which request ids have had a lease that has ended, so that a late retry does not take it anew.
/// Each is remembered for its lease's ttl after the end, in memory only and at most
/// `kMostRemembered` of them (some 40 MB): beyond, those that would be forgotten next go first.
class EndedRequests {
 public:
  static constexpr std::size_t kMostRemembered = 1U << 17U;

  explicit EndedRequests(std::size_t most = kMostRemembered) : most_(most) {}

  void remember(const Lease& lease, base::MonotonicTime now);
  [[nodiscard]] bool contains(const std::string& name, base::MonotonicTime now);
  [[nodiscard]] std::size_t size() const { return until_.size(); }

 private:
  void forget(base::MonotonicTime now);

  const std::size_t most_;
  ExpiryQueue<std::string> until_;
};

}  // namespace fenceline::fencing
