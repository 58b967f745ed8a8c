#include "fencing/lease/lease_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "fencing/mark.h"

namespace fenceline::fencing {
namespace {

tl::unexpected<base::Error> malformed(std::string detail) {
  return base::fail(base::ErrorKind::kMalformedRequest, std::move(detail));
}

base::Result<void> check_name(std::string_view what, const std::string& name, std::size_t most) {
  const bool visible =
      std::ranges::all_of(name, [](char byte) { return byte >= '!' && byte <= '~'; });
  if (name.empty() || name.size() > most || !visible) {
    return malformed(fmt::format("The {} must be 1 to {} visible ASCII characters, without blanks.",
                                 what, most));
  }
  return {};
}

base::Result<void> check_span(std::string_view what, base::Milliseconds span,
                              base::Milliseconds least, base::Milliseconds most) {
  if (span < least || span > most) {
    return malformed(fmt::format("The {} is {} ms; it must be {} to {} ms here.", what,
                                 span.count(), least.count(), most.count()));
  }
  return {};
}

base::Result<void> check_keys(const std::vector<base::FenceKey>& sorted) {
  if (sorted.empty() || sorted.size() > kMaxLeaseKeys) {
    return malformed(fmt::format("A lease has 1 to {} keys; this one asks for {}.", kMaxLeaseKeys,
                                 sorted.size()));
  }
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) {
    return malformed(fmt::format("The key {} is there twice. Name every key once.", twice->text()));
  }
  return {};
}

}  // namespace

base::Result<void> check_ttl(base::Milliseconds ttl, const LeaseLimits& limits) {
  return check_span("ttl", ttl, limits.min_ttl, limits.max_ttl);
}

base::Result<Lease> lease_wanted(AcquireOrder order, const LeaseLimits& limits) {
  constexpr base::Milliseconds kNone{0};
  std::ranges::sort(order.keys);
  return check_keys(order.keys)
      .and_then([&] { return check_name("holder", order.holder, kMaxHolderBytes); })
      .and_then([&] { return check_name("request id", order.request_id, kMaxRequestIdBytes); })
      .and_then([&] { return check_ttl(order.ttl, limits); })
      .and_then([&] { return check_span("wait", order.wait, kNone, limits.max_wait); })
      .and_then(
          [&] { return check_span("lock-delay", order.lock_delay, kNone, limits.max_lock_delay); })
      .map([&] {
        Lease lease;
        lease.keys = std::move(order.keys);
        lease.holder = std::move(order.holder);
        lease.request_id = std::move(order.request_id);
        lease.ttl = order.ttl;
        lease.lock_delay = order.lock_delay;
        return lease;
      });
}

}  // namespace fenceline::fencing
