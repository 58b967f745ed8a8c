#include "proxy/pipeline.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "proxy/arrival.h"
#include "proxy/problem.h"

namespace fenceline::proxy {
namespace {

using base::Awaitable;
using base::pass_on;
using base::Reply;
using base::Result;
using fencing::Permits;
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
  base::Stamp stamp{exchange.key ? exchange.key->text() : std::string(), exchange.token,
                    std::string(exchange.request.request_id)};
  const backends::ResourceRequest resource = exchange.resource();
  auto staged = co_await exchange.route->backend->stage(resource, body, std::move(stamp));
  if (!staged) {
    co_return pass_on(staged.error());
  }
  // 3 ENTER
  Permits permits;
  auto entered = co_await enter(exchange, tickets, permits);
  if (!entered) {
    co_return pass_on(entered.error());
  }
  // 4 COMMIT and 5 DURABLE. If this coroutine is destroyed in here, the permits settle as in doubt.
  auto outcome = co_await (*staged)->commit();
  // 6 LEAVE, then 7 ANSWER
  fencing::settle(permits, settlement_of(outcome));
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
  auto entered = co_await enter(exchange, tickets, permits);
  if (!entered) {
    co_return pass_on(entered.error());
  }
  const backends::ResourceRequest resource = exchange.resource();
  auto outcome = co_await exchange.route->backend->read(resource);
  fencing::settle(permits, fencing::Settlement::kNotApplied);
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

Awaitable<Result<void>> Pipeline::enter(Exchange& exchange, Tickets& tickets, Permits& permits) {
  auto known = fencing::try_enter(parts_.gate, tickets, permits);
  return known ? Awaitable<Result<void>>::ready(enforced(exchange, std::move(*known)))
               : wait_to_enter(exchange, tickets, permits);
}

Awaitable<Result<void>> Pipeline::wait_to_enter(Exchange& exchange, Tickets& tickets,
                                                Permits& permits) {
  const base::MonotonicTime began = parts_.clock.now();
  auto waited =
      co_await fencing::enter(parts_.gate, tickets, exchange.request.timers, exchange.route->drain);
  exchange.route->metrics.waited(std::chrono::duration<double>(parts_.clock.now() - began).count());
  co_return enforced(exchange, move_into(permits, std::move(waited)));
}

Result<void> Pipeline::enforced(const Exchange& exchange, Result<void> verdict) {
  if (!verdict && waved_through(exchange, verdict.error())) {
    return {};
  }
  return verdict;
}

bool Pipeline::waved_through(const Exchange& exchange, const base::Error& error) {
  if (exchange.route == nullptr || exchange.route->enforce || !is_fence_refusal(error.kind)) {
    return false;
  }
  parts_.audit.rejected(exchange, error, highest(exchange), false);
  return true;
}

Reply Pipeline::answer(const Exchange& exchange, Result<Reply> outcome) {
  const base::Token mark = highest(exchange);
  Reply reply;
  if (outcome) {
    reply = std::move(*outcome);
    if (exchange.claims() && exchange.token == mark) {
      parts_.audit.passed(exchange);
    }
  } else {
    const base::Error& error = outcome.error();
    ProblemFacts facts;
    if (exchange.key) {
      facts.key = exchange.key->text();
      facts.highest = mark.exists() ? std::optional(mark) : std::nullopt;
    }
    if (exchange.token.exists()) {
      facts.presented = exchange.token;
    }
    facts.request_id = exchange.request.request_id;
    reply = problem_reply(error, facts);
    parts_.audit.failed(exchange, error);
    if (exchange.route != nullptr && is_fence_refusal(error.kind)) {
      parts_.audit.rejected(exchange, error, mark, true);
    }
  }
  if (mark.exists()) {
    reply.add("Fencing-Highest", mark.text());
  }
  if (exchange.route != nullptr) {
    exchange.route->metrics.answered(reply.status);
  }
  return reply;
}

base::Token Pipeline::highest(const Exchange& exchange) {
  return exchange.key ? parts_.gate.highest(*exchange.key) : base::Token();
}

fencing::Settlement settlement_of(const Result<Reply>& outcome) {
  if (outcome) {
    return fencing::Settlement::kApplied;
  }
  return outcome.error().applied == base::Applied::kNo ? fencing::Settlement::kNotApplied
                                                       : fencing::Settlement::kInDoubt;
}

}  // namespace fenceline::proxy
