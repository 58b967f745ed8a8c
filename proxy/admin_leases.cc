#include "proxy/admin_leases.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "base/log.h"
#include "proxy/admin_order.h"
#include "proxy/admin_query.h"
#include "proxy/lease_json.h"
#include "proxy/lease_request.h"

namespace fenceline::proxy {
namespace {

using base::Awaitable;
using base::ErrorKind;
using base::pass_on;
using base::Reply;
using base::Result;
using fencing::Revoked;

/// The lessor has its own deadline for the drain (`leases.drain`, at most 10 minutes), which a
/// revoke may outlive here: it has been done then.
constexpr base::Milliseconds kDeadline{15'000};

Reply json_reply(std::string body) {
  Reply reply;
  reply.add("Content-Type", "application/json");
  reply.body = std::move(body);
  return reply;
}

void log_revoked(const base::FenceKey& key, const Result<Revoked>& outcome,
                 const RevokeOrder& order, const Request& request) {
  const std::string token = outcome ? outcome->lease.token.text() : std::string();
  const std::string mark = outcome ? outcome->token.text() : std::string();
  base::log(base::LogLevel::kWarning, "lease_revoked",
            outcome ? "an operator ended a lease; its holder is fenced"
                    : "an operator ended a lease; whether all of it was done is not known",
            {{"key", key.text()},
             {"token", token},
             {"mark", mark},
             {"holder", outcome ? outcome->lease.holder : std::string()},
             {"reason", order.reason},
             {"by", order.by},
             {"peer", request.peer},
             {"request", request.request_id}});
}

}  // namespace

Result<void> AdminLeases::check_service() const {
  if (lessor_ == nullptr) {
    return base::fail(ErrorKind::kNotFound,
                      "There is no lease service: `leases` is not in the configuration.");
  }
  return {};
}

Result<Reply> AdminLeases::list(const base::RequestHead& head) {
  if (auto there = check_service(); !there) {
    return pass_on(there.error());
  }
  auto limit = page_limit(head.query);
  if (!limit) {
    return pass_on(limit.error());
  }
  auto prefix = text_parameter(head.query, "prefix");
  if (!prefix) {
    return pass_on(prefix.error());
  }
  auto after = text_parameter(head.query, "after");
  if (!after) {
    return pass_on(after.error());
  }
  return json_reply(leases_json(lessor_->list(*prefix, *after, *limit), *limit));
}

Result<Reply> AdminLeases::show(std::string_view raw_key) {
  if (auto there = check_service(); !there) {
    return pass_on(there.error());
  }
  auto key = key_from(raw_key);
  if (!key) {
    return pass_on(key.error());
  }
  const auto view = lessor_->show(*key);
  if (!view) {
    return base::fail(ErrorKind::kNotFound,
                      fmt::format("Nobody holds '{}' or waits for it.", key->text()));
  }
  return json_reply(lease_key_json(*key, *view));
}

Awaitable<Result<Reply>> AdminLeases::change(Request request, std::string_view raw_key) {
  if (auto there = check_service(); !there) {
    co_return pass_on(there.error());
  }
  auto key = key_from(raw_key);
  if (!key) {
    co_return pass_on(key.error());
  }
  auto body = co_await read_order_body(request);
  if (!body) {
    co_return pass_on(body.error());
  }
  auto order = parse_revoke(*body);
  if (!order) {
    co_return pass_on(order.error());
  }
  const auto start = [this, &key](base::Done<Result<Revoked>> done) {
    lessor_->revoke(*key, std::move(done));
  };
  base::Error late{ErrorKind::kLedgerUnavailable,
                   "The lease has not ended in time, and may still end. Look at it before you send "
                   "the order again.",
                   base::Applied::kUnknown,
                   {}};
  auto outcome =
      co_await base::answer_within<Revoked>(request.timers, kDeadline, std::move(late), start);
  const bool may_have_ended = outcome || outcome.error().applied != base::Applied::kNo ||
                              outcome.error().kind == ErrorKind::kDraining;
  if (may_have_ended) {
    log_revoked(*key, outcome, *order, request);
  }
  if (!outcome) {
    co_return pass_on(outcome.error());
  }
  std::vector<base::FenceKey> keys = outcome->lease.keys;
  auto settled = co_await older_writes_.settle_all(std::move(keys), outcome->token, request.timers);
  if (!settled) {
    co_return pass_on(settled.error());
  }
  co_return json_reply(revoked_json(*key, *outcome));
}

}  // namespace fenceline::proxy
