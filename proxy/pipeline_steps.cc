// The steps of the protocol that may have to wait: admit, put on record, enter.

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "base/log.h"
#include "fencing/recording.h"
#include "proxy/pipeline.h"

namespace fenceline::proxy {
namespace {

using backends::StagedWrite;
using base::Awaitable;
using base::pass_on;
using base::Result;
using fencing::Permits;
using fencing::RunningIntent;
using fencing::Tickets;

template <typename T>
Result<void> move_into(T& into, Result<T> from) {
  if (!from) {
    return pass_on(from.error());
  }
  into = std::move(*from);
  return {};
}

}  // namespace

Awaitable<Result<void>> Pipeline::admit(Exchange& exchange, Tickets& tickets) {
  if (!exchange.claims()) {
    return Awaitable<Result<void>>::ready({});
  }
  const fencing::Claim claim{exchange.token, exchange.holder, exchange.route->max_jump};
  auto known = exchange.more_keys.empty()
                   ? fencing::try_admit(parts_.gate, *exchange.key, claim, tickets)
                   : std::nullopt;
  return known
             ? Awaitable<Result<void>>::ready(after_admission(exchange, tickets, std::move(*known)))
             : wait_to_admit(exchange, tickets, claim);
}

Awaitable<Result<void>> Pipeline::wait_to_admit(Exchange& exchange, Tickets& tickets,
                                                fencing::Claim claim) {
  std::vector<base::FenceKey> keys = exchange.more_keys;
  keys.push_back(*exchange.key);
  auto waited = co_await fencing::admit(parts_.gate, std::move(keys), claim,
                                        exchange.request.timers, exchange.route->drain);
  if (!waited) {
    put_highest_first(exchange);
  }
  co_return after_admission(exchange, tickets, move_into(tickets, std::move(waited)));
}

// Of several keys the one that stood in the way is told.
void Pipeline::put_highest_first(Exchange& exchange) {
  for (base::FenceKey& other : exchange.more_keys) {
    if (parts_.gate.highest(other) > parts_.gate.highest(*exchange.key)) {
      std::swap(other, *exchange.key);
    }
  }
}

Result<void> Pipeline::after_admission(const Exchange& exchange, const Tickets& tickets,
                                       Result<void> admitted) {
  if (admitted && tickets.front().took_over()) {
    parts_.audit.took_over(exchange, tickets.front().previous());
  }
  return enforced(exchange, std::move(admitted));
}

Awaitable<Result<void>> Pipeline::put_on_record(Exchange& exchange, backends::StagedWrite& staged,
                                                OnRecord& into) {
  if (const auto parts = staged.parts(); !parts.empty()) {
    return put_parts_on_record(exchange, parts, into);
  }
  auto intent = exchange.claims() ? staged.intent() : std::nullopt;
  if (!intent) {
    return Awaitable<Result<void>>::ready({});
  }
  fencing::Intent entry{.key = exchange.key->text(),
                        .token = exchange.token,
                        .route = exchange.route->name,
                        .data = std::move(intent->data)};
  const bool may_be_there = intent->shared && exchange.more_keys.empty();
  auto known = may_be_there ? parts_.intents.try_begin(entry) : std::nullopt;
  if (!known) {
    return wait_for_record(exchange, std::move(entry), intent->shared, into);
  }
  into.push_back(std::move(*known));
  return Awaitable<Result<void>>::ready({});
}

Awaitable<Result<void>> Pipeline::wait_for_record(Exchange& exchange, fencing::Intent intent,
                                                  bool shared, OnRecord& into) {
  std::vector<fencing::Intent> entries;
  for (const base::FenceKey& other : exchange.more_keys) {
    entries.push_back(intent);
    entries.back().key = other.text();
  }
  entries.push_back(std::move(intent));
  auto recorded = co_await fencing::put_on_record(parts_.intents, std::move(entries), shared,
                                                  exchange.request.timers, exchange.route->drain);
  if (!recorded) {
    co_return pass_on(recorded.error());
  }
  for (RunningIntent& each : *recorded) {
    into.push_back(std::move(each));
  }
  co_return Result<void>();
}

Awaitable<Result<base::Reply>> Pipeline::fail_at_stage(Exchange& exchange, base::Error error) {
  if (error.applied == base::Applied::kUnknown) {
    if (exchange.claims()) {
      co_await record_doubt(exchange, *exchange.key);
      for (const base::FenceKey& other : exchange.more_keys) {
        co_await record_doubt(exchange, other);
      }
    }
    co_await parts_.repeats.keep_claim(exchange);
  }
  co_return tl::unexpected<base::Error>(std::move(error));
}

// Nobody has checked the fence for it a last time: whoever is newer and inside already does not see
// it. What can be done is that nobody enters from now on.
Awaitable<void> Pipeline::record_doubt(Exchange& exchange, const base::FenceKey& key) {
  // Without data: no backend can take it back, so the settle window or an operator decides.
  fencing::Intent intent{
      .key = key.text(), .token = exchange.token, .route = exchange.route->name, .data = {}};
  const auto start = [this, &intent](base::Done<Result<RunningIntent>> done) {
    parts_.intents.begin(std::move(intent), true, std::move(done));
  };
  base::Error late{base::ErrorKind::kLedgerUnavailable, "the ledger did not answer in time"};
  // Running and dropped it is unsettled, also if it comes too late for us.
  auto running = co_await base::answer_within<RunningIntent>(
      exchange.request.timers, exchange.route->drain, std::move(late), start);
  if (!running) {
    base::log(base::LogLevel::kError, "doubt_not_recorded",
              "a write of unknown outcome is perhaps not on record; newer writers may not wait "
              "for it",
              {{"route", exchange.route->name},
               {"request", std::string(exchange.request.request_id)},
               {"reason", running.error().detail}});
  }
}

Awaitable<Result<bool>> Pipeline::enter(Exchange& exchange, Tickets& tickets,
                                        const StagedWrite* write, Permits& permits) {
  auto known = fencing::try_enter(parts_.gate, tickets, permits);
  if (known && *known && older_writes_.none()) {
    return Awaitable<Result<bool>>::ready(false);
  }
  return known ? settle_older(exchange, write, std::move(*known))
               : wait_to_enter(exchange, tickets, write, permits);
}

Awaitable<Result<bool>> Pipeline::wait_to_enter(Exchange& exchange, Tickets& tickets,
                                                const StagedWrite* write, Permits& permits) {
  const base::MonotonicTime began = parts_.clock.now();
  auto waited =
      co_await fencing::enter(parts_.gate, tickets, exchange.request.timers, exchange.route->drain);
  exchange.route->metrics.waited(std::chrono::duration<double>(parts_.clock.now() - began).count());
  auto inside = move_into(permits, std::move(waited));
  co_return co_await settle_older(exchange, write, std::move(inside));
}

Awaitable<Result<bool>> Pipeline::settle_older(Exchange& exchange, const StagedWrite* write,
                                               Result<void> inside) {
  Result<bool> settled = false;
  if (!inside) {
    settled = pass_on(inside.error());
  } else if (exchange.claims()) {
    settled = co_await settle_all_keys(exchange, write);
  }
  if (!settled && waved_through(exchange, settled.error())) {
    co_return false;
  }
  co_return settled;
}

Awaitable<Result<bool>> Pipeline::settle_all_keys(Exchange& exchange, const StagedWrite* write) {
  bool replaces = false;
  for (std::size_t i = 0; i <= exchange.more_keys.size(); ++i) {
    const base::FenceKey& key = i == 0 ? *exchange.key : exchange.more_keys[i - 1];
    auto settled =
        co_await older_writes_.settle(key, exchange.token, write, exchange.request.timers);
    if (!settled) {
      co_return settled;
    }
    replaces = replaces || *settled;
  }
  co_return replaces;
}

}  // namespace fenceline::proxy
