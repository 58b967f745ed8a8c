#include "client/sources/redis_lease.h"

#include <fmt/format.h>

#include <algorithm>

namespace fenceline::client {

using base::ErrorKind;
using base::Milliseconds;

std::string owner_value(std::string_view holder, std::string_view secret) {
  std::string value(holder);
  value += '#';
  // The last '#' is ours.
  for (const char c : secret) {
    if (c == '#' || c == '%') {
      value += c == '#' ? "%23" : "%25";
    } else {
      value += c;
    }
  }
  return value;
}

std::string holder_in(std::string_view owner_value) {
  const std::size_t end = owner_value.rfind('#');
  return std::string(owner_value.substr(0, end == std::string_view::npos ? 0 : end));
}

base::MonotonicTime valid_until(base::MonotonicTime sent, Milliseconds ttl) {
  return sent + ttl - ttl / 100 - Milliseconds(2);
}

base::Result<void> check_redis_order(const LeaseOrder& order) {
  if (order.keys.size() != 1) {
    return base::fail(ErrorKind::kMalformedRequest,
                      fmt::format("Redis locks one key at a time, not {}: lock one that stands for "
                                  "all of them, or use fenceline:// as the source.",
                                  order.keys.size()));
  }
  if (order.ttl < kMinRedisTtl) {
    return base::fail(ErrorKind::kMalformedRequest,
                      fmt::format("A ttl of {} ms is too short for Redis: take at least {} ms.",
                                  order.ttl.count(), kMinRedisTtl.count()));
  }
  return {};
}

base::Error held_error(const base::FenceKey& key, std::string_view holder,
                       std::optional<Milliseconds> left) {
  std::string detail = fmt::format("The key '{}' is held", key.text());
  if (!holder.empty()) {
    detail += fmt::format(" by {}", holder);
  }
  if (left && *left >= Milliseconds(0)) {
    detail += fmt::format(", for another {} ms if it is not renewed", left->count());
  } else if (left) {
    detail += " by a lock without an end, which fenceline has not set: delete it by hand";
  }
  return {ErrorKind::kLeaseHeld, detail + "."};
}

Backoff::Backoff() : random_(std::random_device()()) {}

Milliseconds Backoff::next(std::optional<Milliseconds> left) {
  constexpr int kMostMs = 170;  // A quarter of a second, with the chance.
  std::uniform_int_distribution<int> chance(around_ms_ / 2, around_ms_ * 3 / 2);
  Milliseconds wait(chance(random_));
  around_ms_ = std::min(around_ms_ * 2, kMostMs);
  if (left && *left >= Milliseconds(0)) {
    // Not all at the moment when it ends.
    wait = std::min(wait, *left + Milliseconds(chance(random_) % 10 + 1));
  }
  return wait;
}

}  // namespace fenceline::client
