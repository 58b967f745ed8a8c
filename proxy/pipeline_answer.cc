// What becomes of a verdict: enforced or waved through, and the answer to the client.

#include <optional>
#include <utility>

#include "proxy/arrival.h"
#include "proxy/pipeline.h"
#include "proxy/problem.h"
#include "proxy/s3_error.h"

namespace fenceline::proxy {

using base::Reply;
using base::Result;

namespace {

bool speaks_s3(const Exchange& exchange) {
  return exchange.route != nullptr && exchange.route->s3 != nullptr;
}

}  // namespace

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
  base::Token mark = highest(exchange);
  if (!outcome && outcome.error().kind == base::ErrorKind::kStaleToken && mark <= exchange.token) {
    // Another proxy has somebody newer: what is known here is not the highest.
    mark = base::Token();
  }
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
    reply = speaks_s3(exchange)
                ? s3_error_reply(error, facts, exchange.request.head.path,
                                 exchange.request.head.method == base::Method::kHead)
                : problem_reply(error, facts);
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
  if (exchange.mark_at_leave.exists()) {
    return exchange.mark_at_leave;
  }
  return exchange.key ? parts_.gate.highest(*exchange.key) : base::Token();
}

bool is_refusal(const Result<Reply>& outcome) {
  return outcome ? outcome->status / 100 != 2 : outcome.error().applied == base::Applied::kNo;
}

fencing::Settlement settlement_of(const Result<Reply>& outcome) {
  if (outcome) {
    return fencing::Settlement::kApplied;
  }
  return outcome.error().applied == base::Applied::kNo ? fencing::Settlement::kNotApplied
                                                       : fencing::Settlement::kInDoubt;
}

}  // namespace fenceline::proxy
