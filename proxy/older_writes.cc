#include "proxy/older_writes.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace fenceline::proxy {
namespace {

using backends::Bearing;
using backends::Revocation;
using backends::StagedWrite;
using base::Awaitable;
using base::ErrorKind;
using base::pass_on;
using base::Result;
using fencing::UnsettledIntent;

tl::unexpected<base::Error> still_unsettled(const UnsettledIntent& older, std::string_view what) {
  return base::fail(
      ErrorKind::kDraining,
      fmt::format("A write with the older token {} on this key has an unknown outcome "
                  "at the upstream of route {}. {}",
                  older.intent.token.text(), older.intent.route, what));
}

/// How long its settle rule has still to wait; 0: it is over.
std::chrono::seconds left_of(base::Milliseconds window, base::Milliseconds waited) {
  return waited >= window ? std::chrono::seconds(0)
                          : std::chrono::ceil<std::chrono::seconds>(window - waited);
}

void log_settled(const UnsettledIntent& older, std::string_view how) {
  base::log(base::LogLevel::kInfo, "older_write_settled", how,
            {{"key", older.intent.key},
             {"token", older.intent.token.text()},
             {"route", older.intent.route}});
}

}  // namespace

Awaitable<Result<bool>> OlderWrites::settle(const base::FenceKey& key, base::Token token,
                                            const StagedWrite* write, base::TimerWheel& timers) {
  // The record first, the state of the resources second: the other way round an older write could
  // land and come off the record in between (model d3, SNAP_LATE).
  auto unsettled = intents_.unsettled_below(key, token);
  const bool may_wake_each_other = unsettled.size() > 1;
  bool replaces = false;
  Dormant dormant;
  for (UnsettledIntent& older : unsettled) {
    auto settled = co_await settle_one(std::move(older), write, timers, dormant);
    if (!settled) {
      co_return settled;
    }
    replaces = replaces || *settled;
  }
  // One that was dormant when it was looked at may have been woken by another one, which landed
  // before it was revoked: a DELETE makes room for a creation. Now none is left that could.
  Dormant still;
  for (std::size_t i = 0; may_wake_each_other && i < dormant.size(); ++i) {
    auto settled = co_await settle_one(std::move(dormant[i]), write, timers, still);
    if (!settled) {
      co_return settled;
    }
    replaces = replaces || *settled;
  }
  co_return replaces;
}

Awaitable<Result<void>> OlderWrites::settle_all(std::vector<base::FenceKey> keys, base::Token token,
                                                base::TimerWheel& timers) {
  for (std::size_t i = 0; i < keys.size() && !none(); ++i) {
    auto settled = co_await settle(keys[i], token, nullptr, timers);
    if (!settled) {
      co_return pass_on(settled.error());
    }
  }
  co_return Result<void>();
}

Awaitable<Result<bool>> OlderWrites::settle_one(UnsettledIntent older, const StagedWrite* write,
                                                base::TimerWheel& timers, Dormant& dormant) {
  const Route* const route = routes_.named(older.intent.route);
  if (route == nullptr) {
    co_return still_unsettled(
        older,
        "That route is no longer configured, so nobody can ask: bring it back, "
        "or have an operator settle the key (fenceline fences settle).");
  }
  const Bearing bearing = write == nullptr ? Bearing::kNone : write->bearing_on(older.intent.data);
  if (bearing == Bearing::kReplaces) {
    co_return true;
  }
  if (bearing == Bearing::kRevives) {
    co_return settle_by_rule(older, *route, true);
  }
  auto revoked = co_await route->backend->revoke(older.intent.data, timers);
  if (!revoked) {
    co_return still_unsettled(older, revoked.error().detail);
  }
  if (*revoked == Revocation::kUnknown) {
    co_return settle_by_rule(older, *route, false);
  }
  if (*revoked == Revocation::kRevoked) {
    log_settled(older, "the older write was revoked: it takes no effect any more");
    intents_.settle(older.intent);
  } else {
    // Harmless as it is; so whether its window is over only matters for the record.
    if (!settle_by_rule(older, *route, false)) {
      dormant.push_back(std::move(older));
    }
  }
  co_return false;
}

Result<bool> OlderWrites::settle_by_rule(const UnsettledIntent& older, const Route& route,
                                         bool revived) {
  const std::string_view why =
      revived ? "This write could bring the state back that the older one waits for. " : "";
  const auto window = route.backend->capabilities().settle_after;
  if (!window) {
    return still_unsettled(
        older, fmt::format("{}Only an operator can tell (settle: manual): look at the upstream, "
                           "then settle the key (fenceline fences settle).",
                           why));
  }
  const auto waited = std::chrono::duration_cast<base::Milliseconds>(clock_.now() - older.since);
  if (const auto left = left_of(*window, waited); left.count() > 0) {
    auto refusal =
        still_unsettled(older, fmt::format("{}It counts as settled in {} s.", why, left.count()));
    refusal.value().retry_after_s = static_cast<std::uint32_t>(left.count());
    return refusal;
  }
  log_settled(older, "the settle window of the older write is over");
  intents_.settle(older.intent);
  return false;
}

}  // namespace fenceline::proxy
