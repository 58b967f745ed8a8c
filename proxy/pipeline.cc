#include "proxy/pipeline.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "fencing/recording.h"
#include "proxy/arrival.h"

namespace fenceline::proxy {
namespace {

using backends::StagedWrite;
using base::Awaitable;
using base::pass_on;
using base::Reply;
using base::Result;
using fencing::Permits;
using fencing::RunningIntent;
using fencing::Settlement;
using fencing::Tickets;

template <typename T>
Result<void> move_into(T& into, Result<T> from) {
  if (!from) {
    return pass_on(from.error());
  }
  into = std::move(*from);
  return {};
}

// Certain not to have been applied.
bool is_refusal(const Result<Reply>& outcome) {
  return outcome ? outcome->status / 100 != 2 : outcome.error().applied == base::Applied::kNo;
}

}  // namespace

Awaitable<Reply> Pipeline::handle(Request request) {
  Exchange exchange(request);
  auto arrived = check_arrival(parts_.routes, parts_.token_fields, exchange);
  Result<Reply> outcome = Reply();
  if (!arrived && !waved_through(exchange, arrived.error())) {
    outcome = pass_on(arrived.error());
  } else if (exchange.is_read) {
    outcome = co_await read(exchange);
  } else {
    outcome = co_await write(exchange);
  }
  co_return answer(exchange, std::move(outcome));
}

Awaitable<Result<Reply>> Pipeline::write(Exchange& exchange) {
  // 1 ADMIT
  Tickets tickets;
  auto admitted = co_await admit(exchange, tickets);
  if (!admitted) {
    co_return pass_on(admitted.error());
  }
  // 2 STAGE: the raise of our mark becomes durable meanwhile. No lock is held.
  MeteredBody body(exchange.request.body, exchange.route->max_body_bytes, parts_.staged);
  body.limit_idle(exchange.route->body_idle);
  const backends::ResourceRequest resource = exchange.resource();
  auto staged = co_await exchange.route->backend->stage(resource, body, exchange.stamp());
  if (!staged) {
    co_return pass_on(staged.error());
  }
  // A write that may outlive us goes on record before the last check of the fence, so that whoever
  // passes that check later, also after our end, finds it.
  Permits permits;
  RunningIntent on_record;
  auto recorded = co_await put_on_record(exchange, **staged, on_record);
  if (!recorded) {
    co_return pass_on(recorded.error());
  }
  // 3 ENTER
  auto entered = co_await enter(exchange, tickets, staged->get(), permits);
  if (!entered) {
    leave(permits, on_record, Settlement::kNotApplied);
    co_return pass_on(entered.error());
  }
  // 4 COMMIT and 5 DURABLE. If this coroutine is destroyed in here, the permits settle as in doubt.
  auto outcome = co_await (*staged)->commit();
  if (*entered && is_refusal(outcome)) {
    // It was to replace an older write of unknown outcome, and did not.
    Result<void> inside;
    auto settled = co_await settle_older(exchange, nullptr, std::move(inside));
    if (!settled) {
      outcome = pass_on(settled.error());
    }
  }
  // 6 LEAVE, then 7 ANSWER
  leave(permits, on_record, settlement_of(outcome));
  learn(exchange, outcome);
  co_return outcome;
}

// A fenced read takes the same path with the read as its effect; it changes nothing, so it leaves
// as not applied whatever it found.
Awaitable<Result<Reply>> Pipeline::read(Exchange& exchange) {
  return exchange.claims() ? fenced_read(exchange)
                           : exchange.route->backend->read(exchange.resource());
}

Awaitable<Result<Reply>> Pipeline::fenced_read(Exchange& exchange) {
  Tickets tickets;
  auto admitted = co_await admit(exchange, tickets);
  if (!admitted) {
    co_return pass_on(admitted.error());
  }
  Permits permits;
  auto entered = co_await enter(exchange, tickets, nullptr, permits);
  if (!entered) {
    fencing::settle(permits, Settlement::kNotApplied);
    co_return pass_on(entered.error());
  }
  const backends::ResourceRequest resource = exchange.resource();
  auto outcome = co_await exchange.route->backend->fenced_read(resource, exchange.stamp());
  fencing::settle(permits, Settlement::kNotApplied);
  learn(exchange, outcome);
  co_return outcome;
}

Awaitable<Result<void>> Pipeline::admit(Exchange& exchange, Tickets& tickets) {
  if (!exchange.claims()) {
    return Awaitable<Result<void>>::ready({});
  }
  const fencing::Claim claim{exchange.token, exchange.holder, exchange.route->max_jump};
  auto known = fencing::try_admit(parts_.gate, *exchange.key, claim, tickets);
  return known
             ? Awaitable<Result<void>>::ready(after_admission(exchange, tickets, std::move(*known)))
             : wait_to_admit(exchange, tickets, claim);
}

Awaitable<Result<void>> Pipeline::wait_to_admit(Exchange& exchange, Tickets& tickets,
                                                fencing::Claim claim) {
  std::vector<base::FenceKey> keys(1, *exchange.key);
  auto waited = co_await fencing::admit(parts_.gate, std::move(keys), claim,
                                        exchange.request.timers, exchange.route->drain);
  co_return after_admission(exchange, tickets, move_into(tickets, std::move(waited)));
}

Result<void> Pipeline::after_admission(const Exchange& exchange, const Tickets& tickets,
                                       Result<void> admitted) {
  if (admitted && tickets.front().took_over()) {
    parts_.audit.took_over(exchange, tickets.front().previous());
  }
  return enforced(exchange, std::move(admitted));
}

Awaitable<Result<void>> Pipeline::put_on_record(Exchange& exchange,
                                                const backends::StagedWrite& staged,
                                                RunningIntent& into) {
  auto intent = exchange.claims() ? staged.intent() : std::nullopt;
  if (!intent) {
    return Awaitable<Result<void>>::ready({});
  }
  fencing::Intent entry{.key = exchange.key->text(),
                        .token = exchange.token,
                        .route = exchange.route->name,
                        .data = std::move(intent->data)};
  auto known = intent->shared ? parts_.intents.try_begin(entry) : std::nullopt;
  if (!known) {
    return wait_for_record(exchange, std::move(entry), intent->shared, into);
  }
  into = std::move(*known);
  return Awaitable<Result<void>>::ready({});
}

Awaitable<Result<void>> Pipeline::wait_for_record(Exchange& exchange, fencing::Intent intent,
                                                  bool shared, RunningIntent& into) {
  auto recorded = co_await fencing::put_on_record(parts_.intents, std::move(intent), shared,
                                                  exchange.request.timers, exchange.route->drain);
  co_return move_into(into, std::move(recorded));
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
    settled = co_await older_writes_.settle(*exchange.key, exchange.token, write,
                                            exchange.request.timers);
  }
  if (!settled && waved_through(exchange, settled.error())) {
    co_return false;
  }
  co_return settled;
}

void Pipeline::leave(Permits& permits, RunningIntent& on_record, Settlement outcome) {
  if (on_record.running()) {
    if (outcome != Settlement::kInDoubt) {
      on_record.finish();
    }
    // What it may still do is on record, which holds newer tokens back: the gate need not.
    on_record = RunningIntent();
    outcome = outcome == Settlement::kInDoubt ? Settlement::kNotApplied : outcome;
  }
  fencing::settle(permits, outcome);
}

void Pipeline::learn(const Exchange& exchange, const Result<Reply>& outcome) {
  if (outcome || outcome.error().store_mark <= exchange.token.value() || !exchange.claims()) {
    return;
  }
  // Dropping the ticket leaves the announced mark, whose durable raise is under way.
  const fencing::Claim claim{base::Token::of(outcome.error().store_mark), {}, 0};
  parts_.gate.admit(*exchange.key, claim, fencing::Announce::kYes, [](const auto& /*ticket*/) {});
}

}  // namespace fenceline::proxy
