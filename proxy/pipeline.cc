#include "proxy/pipeline.h"

#include <memory>
#include <optional>
#include <utility>

#include "proxy/arrival.h"
#include "proxy/s3_arrival.h"

namespace fenceline::proxy {

using base::Awaitable;
using base::pass_on;
using base::Reply;
using base::Result;
using fencing::Permits;
using fencing::Settlement;
using fencing::Tickets;

Awaitable<Reply> Pipeline::handle(Request request) {
  Exchange exchange(request);
  auto arrived = enforced(exchange, check_arrival(parts_.routes, parts_.token_fields, exchange));
  if (arrived && exchange.s3 != nullptr && exchange.s3->keys_are_in_body()) {
    arrived = co_await read_keys_from_body(exchange, parts_.staged);
  }
  Result<Reply> outcome = Reply();
  if (!arrived) {
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
  auto alone = parts_.repeats.begin(exchange);
  if (!alone) {
    co_return pass_on(alone.error());
  }
  // 2 STAGE: the raise of our mark becomes durable meanwhile. No lock is held.
  MeteredBody body(exchange.body(), exchange.route->max_body_bytes, parts_.staged);
  body.limit_idle(exchange.route->body_idle);
  const backends::ResourceRequest resource = exchange.resource();
  auto staged = co_await exchange.route->backend->stage(resource, body, exchange.stamp());
  if (!staged) {
    co_return co_await fail_at_stage(exchange, std::move(staged.error()));
  }
  // A write that may outlive us goes on record before the last check of the fence, so that whoever
  // passes that check later, also after our end, finds it.
  Permits permits;
  OnRecord on_record;
  auto recorded = co_await put_on_record(exchange, **staged, on_record);
  if (!recorded) {
    co_return pass_on(recorded.error());
  }
  // 3 ENTER
  auto entered = co_await enter(exchange, tickets, staged->get(), permits);
  if (!entered) {
    leave(exchange, permits, on_record, Settlement::kNotApplied);
    co_return pass_on(entered.error());
  }
  if (const auto parts = (*staged)->parts(); !parts.empty()) {
    co_return co_await commit_parts(exchange, parts, permits, on_record, *entered);
  }
  // 4 COMMIT and 5 DURABLE. If this coroutine is destroyed in here, the permits settle as in doubt.
  auto outcome = co_await parts_.repeats.commit(exchange, **staged);
  const bool nothing_done = exchange.answered_from_memory();
  if (*entered && (nothing_done || is_refusal(outcome))) {
    // It was to replace an older write of unknown outcome, and did not.
    Result<void> inside;
    auto settled = co_await settle_older(exchange, nullptr, std::move(inside));
    if (!settled) {
      outcome = pass_on(settled.error());
    }
  }
  // 6 LEAVE, then 7 ANSWER
  leave(exchange, permits, on_record,
        exchange.only_stages || nothing_done ? Settlement::kNotApplied : settlement_of(outcome));
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
  exchange.mark_at_leave = fencing::settle(permits, Settlement::kNotApplied);
  learn(exchange, outcome);
  co_return outcome;
}

void Pipeline::leave(Exchange& exchange, Permits& permits, OnRecord& on_record,
                     Settlement outcome) {
  if (!on_record.empty()) {
    for (fencing::RunningIntent& each : on_record) {
      if (outcome != Settlement::kInDoubt) {
        each.finish();
      }
    }
    // What it may still do is on record, which holds newer tokens back: the gate need not.
    on_record.clear();
    outcome = outcome == Settlement::kInDoubt ? Settlement::kNotApplied : outcome;
  }
  exchange.mark_at_leave = fencing::settle(permits, outcome);
}

void Pipeline::learn(Exchange& exchange, const Result<Reply>& outcome) {
  if (outcome || outcome.error().store_mark <= exchange.token.value() || !exchange.claims()) {
    return;
  }
  // Dropping the ticket leaves the announced mark, whose durable raise is under way.
  const fencing::Claim claim{base::Token::of(outcome.error().store_mark), {}, 0};
  parts_.gate.admit(*exchange.key, claim, fencing::Announce::kYes, [](const auto& /*ticket*/) {});
  exchange.mark_at_leave = base::Token();  // It has just risen.
}

}  // namespace fenceline::proxy
