#include "proxy/repeats.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/deadline.h"
#include "base/kept_reply.h"
#include "base/log.h"
#include "proxy/claim_outcome.h"
#include "proxy/printed_fields.h"

namespace fenceline::proxy {
namespace {

using backends::LastWrite;
using backends::StagedWrite;
using base::Applied;
using base::Awaitable;
using base::Error;
using base::ErrorKind;
using base::KeptRow;
using base::pass_on;
using base::Reply;
using base::Result;
using Recalled = std::optional<KeptRow>;

Error too_late() {
  return Error{ErrorKind::kLedgerUnavailable,
               "The ledger did not say in time what is kept for the idempotency key; nothing was "
               "done. Send the request again later."};
}

Error unknown_outcome() {
  return Error{.kind = ErrorKind::kIdempotencyRunning,
               .detail =
                   "An earlier request with this idempotency key ended in the middle, and the "
                   "resource does not show whether it took effect. Look at the resource; if the "
                   "effect is missing, send the request with a new key.",
               .applied = Applied::kUnknown};
}

bool removes(const Exchange& exchange) {
  return exchange.request.head.method == base::Method::kDelete;
}

/// Whether the effect surely did not take place. An upstream that failed in the middle (500, 502,
/// 504) may have passed it on; one that does not take it (501, 503, 507) has not.
bool had_no_effect(const Result<Reply>& outcome) {
  if (!outcome) {
    return outcome.error().applied == Applied::kNo;
  }
  const int status = outcome->status;
  return status / 100 != 2 && status != 500 && status != 502 && status != 504;
}

Awaitable<Result<Recalled>> recall(fencing::AnswerStore& answers, const Exchange& exchange,
                                   std::string before) {
  auto start = [&answers, once = exchange.once->once,
                request_id = std::string(exchange.request.request_id),
                before = std::move(before)](base::Done<Result<Recalled>> done) mutable {
    answers.recall(std::move(once), std::move(request_id), std::move(before), std::move(done));
  };
  auto recalled = co_await base::answer_within<Recalled>(
      exchange.request.timers, exchange.route->drain, too_late(), std::move(start));
  if (!recalled) {
    // A claim that comes too late is taken back: calls take effect in their order.
    answers.forget(exchange.once->once.key, std::string(exchange.request.request_id),
                   [](const Result<void>& /*done*/) {});
  }
  co_return recalled;
}

}  // namespace

Result<std::optional<RunningKeys::Run>> Repeats::begin(const Exchange& exchange) {
  if (exchange.once == nullptr) {
    return std::nullopt;
  }
  auto run = running_.begin(exchange.once->once.key);
  if (!run) {
    return base::fail(ErrorKind::kIdempotencyRunning,
                      "Another request with this idempotency key is under way. Send the request "
                      "again later: then it gets the answer of that one.");
  }
  if (doubtful_.contains(exchange.once->once.key)) {
    return tl::unexpected<Error>(unknown_outcome());
  }
  return run;
}

Awaitable<Result<Reply>> Repeats::commit(Exchange& exchange, StagedWrite& staged) {
  if (exchange.once == nullptr) {
    return staged.commit();
  }
  base::Once& once = exchange.once->once;
  once.print = exchange.once->body.print(exchange.request.head, printed_fields(exchange));
  return exchange.route->backend->commits_once() ? staged.commit_once(once)
                                                 : commit_beside(exchange, staged);
}

Awaitable<void> Repeats::keep_claim(Exchange& exchange) {
  return exchange.once == nullptr ? Awaitable<void>::ready({}) : claim_unread(exchange);
}

Awaitable<void> Repeats::claim_unread(Exchange& exchange) {
  doubtful_.add(exchange.once->once.key);
  auto start = [this, once = exchange.once->once,
                request_id = std::string(exchange.request.request_id)](
                   base::Done<Result<Recalled>> done) mutable {
    answers_.recall(std::move(once), std::move(request_id), {}, std::move(done));
  };
  auto row = co_await base::answer_within<Recalled>(exchange.request.timers, exchange.route->drain,
                                                    too_late(), std::move(start));
  if (!row) {
    base::log(base::LogLevel::kWarning, "claim_not_kept",
              "after a restart a repeated request will be sent to the upstream again",
              {{"route", exchange.route->name}, {"reason", row.error().detail}});
  }
}

Awaitable<Result<Reply>> Repeats::commit_beside(Exchange& exchange, StagedWrite& staged) {
  exchange.once->nothing_done = true;  // Until the commit.
  const backends::ResourceRequest resource = exchange.resource();
  auto now = co_await exchange.route->backend->last_write(resource);
  if (!now) {
    co_return pass_on(now.error());
  }
  auto row = co_await recall(answers_, exchange, mark_of(*now));
  if (!row) {
    co_return pass_on(row.error());
  }
  if (!*row) {
    co_return co_await commit_and_keep(exchange, staged);
  }
  // Who claimed it without a print had not read the body.
  if (!(*row)->print.empty() && (*row)->print != exchange.once->once.print) {
    co_return tl::unexpected<Error>(base::reused_key());
  }
  if ((*row)->claimed_by.empty()) {
    co_return base::replayed((*row)->answer);
  }
  co_return co_await settle_claim(exchange, staged, std::move(**row), std::move(*now));
}

Awaitable<Result<Reply>> Repeats::settle_claim(Exchange& exchange, StagedWrite& staged,
                                               KeptRow claim, LastWrite now) {
  const ClaimOutcome outcome =
      outcome_of_claim(claim, now, removes(exchange), staged.intent().has_value());
  base::log(base::LogLevel::kInfo, "claim_settled",
            "an earlier request with the same idempotency key had kept no answer",
            {{"route", exchange.route->name},
             {"request", claim.claimed_by},
             {"outcome", outcome == ClaimOutcome::kApplied      ? "applied"
                         : outcome == ClaimOutcome::kNotApplied ? "not applied"
                                                                : "unknown"}});
  if (outcome == ClaimOutcome::kUnknown) {
    co_return tl::unexpected<Error>(unknown_outcome());
  }
  if (outcome == ClaimOutcome::kApplied) {
    // Whether it created something is not known.
    Reply reply;
    reply.status = 204;
    co_await keep_answer(exchange, reply);
    co_return base::replayed({.status = reply.status, .fields = {}, .body = {}});
  }
  // The claim names another request, whose stamp the effect of this one would not have.
  co_await forget(exchange, claim.claimed_by);
  auto again = co_await recall(answers_, exchange, mark_of(now));
  if (!again) {
    co_return pass_on(again.error());
  }
  if (*again) {
    co_return tl::unexpected<Error>(unknown_outcome());
  }
  co_return co_await commit_and_keep(exchange, staged);
}

Awaitable<Result<Reply>> Repeats::commit_and_keep(Exchange& exchange, StagedWrite& staged) {
  exchange.once->nothing_done = false;
  auto outcome = co_await staged.commit();
  if (outcome && outcome->status / 100 == 2) {
    co_await keep_answer(exchange, *outcome);
  } else if (had_no_effect(outcome)) {
    co_await forget(exchange, std::string(exchange.request.request_id));
  }
  co_return outcome;
}

// What goes wrong here is not the client's: the effect is there, and a repeated request finds the
// claim and the stamp.
Awaitable<void> Repeats::keep_answer(Exchange& exchange, const Reply& reply) {
  auto answer = base::kept_from(reply);
  if (!answer) {
    // Too large to be kept: what is repeated gets its head.
    answer = base::kept_head(reply);
  }
  auto start = [this, once = exchange.once->once,
                answer = std::move(*answer)](base::Done<Result<void>> done) mutable {
    answers_.keep(std::move(once), std::move(answer), std::move(done));
  };
  auto kept = co_await base::answer_within<void>(exchange.request.timers, exchange.route->drain,
                                                 too_late(), std::move(start));
  if (!kept) {
    base::log(base::LogLevel::kWarning, "answer_not_kept",
              "a repeated request will be answered by what the resource shows",
              {{"route", exchange.route->name}, {"reason", kept.error().detail}});
  }
}

Awaitable<void> Repeats::forget(Exchange& exchange, std::string claimed_by) {
  auto start = [this, key = exchange.once->once.key,
                claimed_by = std::move(claimed_by)](base::Done<Result<void>> done) mutable {
    answers_.forget(std::move(key), std::move(claimed_by), std::move(done));
  };
  auto forgotten = co_await base::answer_within<void>(
      exchange.request.timers, exchange.route->drain, too_late(), std::move(start));
  if (!forgotten) {
    base::log(base::LogLevel::kWarning, "claim_not_forgotten",
              "a repeated request will be answered by what the resource shows",
              {{"route", exchange.route->name}, {"reason", forgotten.error().detail}});
  }
}

}  // namespace fenceline::proxy
