#include <cstdint>
#include <utility>

#include "config/ranges.h"
#include "config/readers.h"
#include "config/scalars.h"

namespace fenceline::config {
namespace {

constexpr std::int64_t kMaxLeases = 100'000'000;
constexpr std::int64_t kMaxWaiters = 1'000'000;

}  // namespace

void read_leases(Section& top, std::optional<Leases>& out) {
  auto map = top.map("leases", Need::kOptional);
  if (!map) {
    return;
  }
  Leases leases;
  leases.place = map->has("path") ? map->place_of("path") : map->place();
  map->read_into("path", leases.path, parse_service_path);
  leases.token = map->read("token", Need::kOptional, parse_bearer_token);
  map->read_into("min_ttl", leases.min_ttl, timeout());
  map->read_into("max_ttl", leases.max_ttl, timeout());
  map->read_into("max_wait", leases.max_wait, timeout_or_none());
  map->read_into("lock_delay", leases.lock_delay, timeout_or_none());
  map->read_into("max_lock_delay", leases.max_lock_delay, timeout_or_none());
  map->read_into("max_leases", leases.max_leases, integer_in(1, kMaxLeases));
  map->read_into("max_waiters", leases.max_waiters, integer_in(0, kMaxWaiters));
  map->read_into("drain", leases.drain, drain_timeout());
  out = std::move(leases);
}

}  // namespace fenceline::config
