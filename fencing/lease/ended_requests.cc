#include "fencing/lease/ended_requests.h"

namespace fenceline::fencing {

std::string attempt_name(const std::string& holder, const std::string& request_id) {
  // Neither has a line break in it.
  return holder + '\n' + request_id;
}

void EndedRequests::remember(const Lease& lease, base::MonotonicTime now) {
  until_.put(attempt_name(lease.holder, lease.request_id), now + lease.ttl);
  forget(now);
}

bool EndedRequests::contains(const std::string& name, base::MonotonicTime now) {
  forget(now);
  return until_.contains(name);
}

void EndedRequests::forget(base::MonotonicTime now) {
  while (until_.take_due(now)) {
  }
  while (until_.size() > most_) {
    until_.take_first();
  }
}

}  // namespace fenceline::fencing
