#include "client/sources/one_key.h"

#include <fmt/format.h>

namespace fenceline::client {

using base::ErrorKind;
using base::Milliseconds;

base::Result<void> check_one_key(const LeaseOrder& order, std::string_view service,
                                 Milliseconds shortest) {
  if (order.keys.size() != 1) {
    return base::fail(
        ErrorKind::kMalformedRequest,
        fmt::format("A lease from {} has one key, not {}. Take one key that stands for all of "
                    "them, or use a fenceline:// source, which locks several or none.",
                    service, order.keys.size()));
  }
  if (order.ttl < shortest) {
    return base::fail(ErrorKind::kMalformedRequest,
                      fmt::format("The ttl of {} ms is too short for {}: at least {} ms.",
                                  order.ttl.count(), service, shortest.count()));
  }
  return {};
}

Milliseconds drift_of(Milliseconds ttl) { return ttl / 100 + Milliseconds(2); }

base::Error stopped_error(base::Applied applied) {
  return {.kind = ErrorKind::kClientGone,
          .detail = "The call was stopped before the source had answered.",
          .applied = applied};
}

base::Error ended_error(const Grant& grant) {
  return {.kind = ErrorKind::kLeaseEnded,
          .detail =
              fmt::format("The lease on '{}' with token {} is not held any more: it expired, "
                          "was given back, or was ended by somebody.",
                          grant.keys.empty() ? "" : grant.keys.front().text(), grant.token.text())};
}

base::Error held_error(const base::FenceKey& key, std::string_view holder, base::Token token) {
  std::string detail = fmt::format("The lease on '{}' is held", key.text());
  if (!holder.empty()) {
    detail += fmt::format(" by {}", holder);
  }
  if (token.exists()) {
    detail += fmt::format(", with token {}", token.text());
  }
  return {.kind = ErrorKind::kLeaseHeld, .detail = detail + "."};
}

}  // namespace fenceline::client
