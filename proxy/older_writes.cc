#include "proxy/older_writes.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <utility>

#include "base/log.h"

namespace fenceline::proxy {
namespace {

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

Awaitable<Result<void>> OlderWrites::settle(const base::FenceKey& key, base::Token token,
                                            base::TimerWheel& timers) {
  auto unsettled = intents_.unsettled_below(key, token);
  for (UnsettledIntent& older : unsettled) {
    auto settled = co_await settle_one(std::move(older), timers);
    if (!settled) {
      co_return settled;
    }
  }
  co_return Result<void>();
}

Awaitable<Result<void>> OlderWrites::settle_one(UnsettledIntent older, base::TimerWheel& timers) {
  const Route* const route = routes_.named(older.intent.route);
  if (route == nullptr) {
    co_return still_unsettled(
        older,
        "That route is no longer configured, so nobody can ask: bring it back, "
        "or have an operator settle the key (fenceline fences settle).");
  }
  auto revoked = co_await route->backend->revoke(older.intent.data, timers);
  if (!revoked) {
    co_return still_unsettled(older, revoked.error().detail);
  }
  if (*revoked) {
    log_settled(older, "the older write was revoked: it takes no effect any more");
    intents_.settle(older.intent);
    co_return Result<void>();
  }
  const auto window = route->backend->capabilities().settle_after;
  if (!window) {
    co_return still_unsettled(older,
                              "Only an operator can tell (settle: manual): look at the upstream, "
                              "then settle the key (fenceline fences settle).");
  }
  const auto waited = std::chrono::duration_cast<base::Milliseconds>(clock_.now() - older.since);
  if (const auto left = left_of(*window, waited); left.count() > 0) {
    auto refusal =
        still_unsettled(older, fmt::format("It counts as settled in {} s.", left.count()));
    refusal.value().retry_after_s = static_cast<std::uint32_t>(left.count());
    co_return refusal;
  }
  log_settled(older, "the settle window of the older write is over");
  intents_.settle(older.intent);
  co_return Result<void>();
}

}  // namespace fenceline::proxy
