#include "proxy/admin_unsettled.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "base/log.h"
#include "proxy/admin_json.h"
#include "proxy/admin_order.h"
#include "proxy/admin_query.h"
#include "proxy/fence_order.h"

namespace fenceline::proxy {
namespace {

using base::Awaitable;
using base::ErrorKind;
using base::pass_on;
using base::Reply;
using base::Result;

constexpr base::Milliseconds kDeadline{5000};

Reply json_reply(std::string body) {
  Reply reply;
  reply.add("Content-Type", "application/json");
  reply.body = std::move(body);
  return reply;
}

UnsettledRow row_of(const fencing::UnsettledIntent& found, base::MonotonicTime now) {
  return {found.intent, std::chrono::duration_cast<base::Milliseconds>(now - found.since)};
}

void log_settled(const base::FenceKey& key, const UnsettledRow& row, const SettleOrder& order,
                 const Request& request) {
  const std::string token = row.intent.token.text();
  const std::string age = std::to_string(row.age.count());
  base::log(base::LogLevel::kWarning, "write_settled",
            "an operator says that a write can take no effect any more",
            {{"key", key.text()},
             {"token", token},
             {"route", row.intent.route},
             {"data", row.intent.data},
             {"age_ms", age},
             {"reason", order.reason},
             {"by", order.by},
             {"peer", request.peer},
             {"request", request.request_id}});
}

/// Waits until the ledger has carried out what it was told before.
Awaitable<Result<void>> catch_up(fencing::Ledger& ledger, base::TimerWheel& timers) {
  const auto start = [&ledger](base::Done<Result<void>> done) {
    ledger.drop_intents({}, std::move(done));
  };
  base::Error late{ErrorKind::kLedgerUnavailable,
                   "The writes are settled, but the ledger did not say in time that they are off "
                   "the record: if they are listed again after a restart, settle them again.",
                   base::Applied::kUnknown,
                   {}};
  co_return co_await base::answer_within<void>(timers, kDeadline, std::move(late), start);
}

}  // namespace

Result<Reply> AdminUnsettled::list(const base::RequestHead& head) {
  auto limit = page_limit(head.query);
  if (!limit) {
    return pass_on(limit.error());
  }
  auto prefix = text_parameter(head.query, "prefix");
  if (!prefix) {
    return pass_on(prefix.error());
  }
  auto cursor = text_parameter(head.query, "after");
  if (!cursor) {
    return pass_on(cursor.error());
  }
  std::optional<fencing::Intent> after;
  if (!cursor->empty()) {
    auto last = intent_behind(*cursor);
    if (!last) {
      return pass_on(last.error());
    }
    after = std::move(*last);
  }
  const base::MonotonicTime now = clock_.now();
  std::vector<UnsettledRow> rows;
  for (const auto& found : intents_.list_unsettled(*prefix, *limit + 1, after)) {
    rows.push_back(row_of(found, now));
  }
  const bool more = rows.size() > *limit;
  rows.resize(more ? *limit : rows.size());
  return json_reply(unsettled_json(rows, more));
}

Awaitable<Result<Reply>> AdminUnsettled::settle(Request request, std::string_view raw_key) {
  auto key = key_from(raw_key);
  if (!key) {
    co_return pass_on(key.error());
  }
  auto body = co_await read_order_body(request);
  if (!body) {
    co_return pass_on(body.error());
  }
  auto order = parse_settle_order(*body);
  if (!order) {
    co_return pass_on(order.error());
  }
  const base::MonotonicTime now = clock_.now();
  std::vector<UnsettledRow> settled;
  for (const auto& found : intents_.unsettled_of(*key)) {
    const bool named = !order->token.exists() || order->token == found.intent.token;
    if (named && intents_.settle(found.intent)) {
      settled.push_back(row_of(found, now));
      log_settled(*key, settled.back(), *order, request);
    }
  }
  if (settled.empty()) {
    co_return base::fail(
        ErrorKind::kNotFound,
        fmt::format("No write of the key '{}'{} is unsettled. GET /v1/unsettled lists them.",
                    key->text(),
                    order->token.exists() ? " with token " + order->token.text() : ""));
  }
  auto durable = co_await catch_up(ledger_, request.timers);
  if (!durable) {
    co_return pass_on(durable.error());
  }
  co_return json_reply(settled_json(key->text(), settled));
}

}  // namespace fenceline::proxy
