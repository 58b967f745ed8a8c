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
using base::Reply;
using base::Result;
using fencing::Permits;
using fencing::Tickets;

tl::unexpected<base::Error> pass_on(base::Error& error) {
  return tl::unexpected<base::Error>(std::move(error));
}

}  // namespace

Awaitable<Reply> Pipeline::handle(Request request) {
  Exchange exchange(request);
  auto outcome = co_await run(exchange);
  co_return answer(exchange, std::move(outcome));
}

Awaitable<Result<Reply>> Pipeline::run(Exchange& exchange) {
  auto arrived = check_arrival(parts_.routes, parts_.token_fields, exchange);
  if (!arrived && !waved_through(exchange, arrived.error())) {
    co_return pass_on(arrived.error());
  }
  Tickets tickets;
  if (exchange.claims()) {
    auto admitted = co_await admit(exchange);
    if (!admitted) {
      co_return pass_on(admitted.error());
    }
    tickets = std::move(*admitted);
  }
  if (exchange.is_read) {
    co_return co_await read(exchange, tickets);
  }
  co_return co_await write(exchange, tickets);
}

// 1 ADMIT
Awaitable<Result<Tickets>> Pipeline::admit(Exchange& exchange) {
  const fencing::Claim claim{exchange.token, exchange.holder, exchange.route->max_jump};
  std::vector<base::FenceKey> keys(1, *exchange.key);
  auto tickets = co_await fencing::admit(parts_.gate, std::move(keys), claim,
                                         exchange.request.timers, exchange.route->drain);
  if (!tickets) {
    if (waved_through(exchange, tickets.error())) {
      co_return Tickets();
    }
    co_return tickets;
  }
  if (tickets->front().took_over()) {
    parts_.audit.took_over(exchange, tickets->front().previous());
  }
  co_return tickets;
}

Awaitable<Result<Reply>> Pipeline::write(Exchange& exchange, Tickets& tickets) {
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
  auto permits = co_await enter(exchange, tickets);
  if (!permits) {
    co_return pass_on(permits.error());
  }
  // 4 COMMIT and 5 DURABLE. If this coroutine is destroyed in here, the permits settle as in doubt.
  auto outcome = co_await (*staged)->commit();
  // 6 LEAVE, then 7 ANSWER
  fencing::settle(*permits, settlement_of(outcome));
  co_return outcome;
}

// A fenced read takes the same path with the read as its effect; it changes nothing, so it leaves
// as not applied whatever it found.
Awaitable<Result<Reply>> Pipeline::read(Exchange& exchange, Tickets& tickets) {
  auto permits = co_await enter(exchange, tickets);
  if (!permits) {
    co_return pass_on(permits.error());
  }
  const backends::ResourceRequest resource = exchange.resource();
  auto outcome = co_await exchange.route->backend->read(resource);
  fencing::settle(*permits, fencing::Settlement::kNotApplied);
  co_return outcome;
}

Awaitable<Result<Permits>> Pipeline::enter(Exchange& exchange, Tickets& tickets) {
  std::optional<Result<Permits>> known = fencing::try_enter(parts_.gate, tickets);
  Result<Permits> permits = Permits();
  if (known) {
    permits = std::move(*known);
  } else {
    const base::MonotonicTime began = parts_.clock.now();
    permits = co_await fencing::enter(parts_.gate, tickets, exchange.request.timers,
                                      exchange.route->drain);
    RouteMetrics metrics = exchange.route->metrics;
    metrics.waited(std::chrono::duration<double>(parts_.clock.now() - began).count());
  }
  if (!permits && waved_through(exchange, permits.error())) {
    co_return Permits();
  }
  co_return permits;
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
    RouteMetrics metrics = exchange.route->metrics;
    metrics.answered(reply.status);
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
