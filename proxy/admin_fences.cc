#include "proxy/admin_fences.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "base/log.h"
#include "fencing/admission.h"
#include "proxy/admin_json.h"
#include "proxy/admin_order.h"
#include "proxy/admin_query.h"
#include "proxy/fence_order.h"
#include "proxy/store_marks.h"

namespace fenceline::proxy {
namespace {

using base::Awaitable;
using base::ErrorKind;
using base::pass_on;
using base::Reply;
using base::Result;

constexpr base::Milliseconds kDeadline{5000};
constexpr std::size_t kShownResets = 10;

base::Error ledger_late(base::Applied applied) {
  return {ErrorKind::kLedgerUnavailable,
          applied == base::Applied::kNo
              ? "The ledger did not answer in time. Try again later."
              : "The ledger did not answer in time, and may carry the order out later. Look at the "
                "fence before you send it again.",
          applied,
          {}};
}

std::int64_t wall_clock_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Reply json_reply(std::string body) {
  Reply reply;
  reply.add("Content-Type", "application/json");
  reply.body = std::move(body);
  return reply;
}

Awaitable<Result<FenceOrder>> read_order(Request request) {
  auto body = co_await read_order_body(request);
  if (!body) {
    co_return pass_on(body.error());
  }
  co_return parse_fence_order(*body);
}

using History = std::vector<fencing::ResetRecord>;

Awaitable<Result<fencing::Mark>> find_mark(fencing::Ledger& ledger, base::FenceKey key,
                                           base::TimerWheel& timers) {
  const auto start = [&ledger, &key](base::Done<Result<fencing::Mark>> done) {
    ledger.find(key, std::move(done));
  };
  base::Error late = ledger_late(base::Applied::kNo);
  co_return co_await base::answer_within<fencing::Mark>(timers, kDeadline, std::move(late), start);
}

Awaitable<Result<History>> list_resets(fencing::Ledger& ledger, base::FenceKey key,
                                       base::TimerWheel& timers) {
  const auto start = [&ledger, &key](base::Done<Result<History>> done) {
    ledger.resets(key, kShownResets, std::move(done));
  };
  base::Error late = ledger_late(base::Applied::kNo);
  co_return co_await base::answer_within<History>(timers, kDeadline, std::move(late), start);
}

/// What a raise has done; the mark is durable and nobody older is inside.
struct Raised {
  base::Token before;
  base::Token mark;
  bool changed = false;
};

/// Raises the mark to `to` at least, and drains: the way of a fenced read. A mark that is higher
/// already is drained to instead.
Awaitable<Result<Raised>> raise_through(fencing::Gate& gate, base::FenceKey key, base::Token to,
                                        base::TimerWheel& timers) {
  constexpr int kAttempts = 8;
  Raised raised;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const fencing::Claim claim{to, {}, 0};
    std::vector<base::FenceKey> keys(1, key);
    auto tickets = co_await fencing::admit(gate, std::move(keys), claim, timers, kDeadline);
    if (tickets) {
      if (!raised.changed) {
        raised.before = tickets->front().previous();
      }
      raised.changed = raised.changed || tickets->front().took_over();
      auto permits = co_await fencing::enter(gate, *tickets, timers, kDeadline);
      if (permits) {
        fencing::settle(*permits, fencing::Settlement::kNotApplied);
        raised.mark = to;
        co_return raised;
      }
      if (permits.error().kind != ErrorKind::kStaleToken) {
        co_return pass_on(permits.error());
      }
    } else if (tickets.error().kind != ErrorKind::kStaleToken) {
      co_return pass_on(tickets.error());
    }
    // Somebody is above it: what is asked for is to have all older writers out.
    const base::Token highest = gate.highest(key);
    to = highest > to ? highest : to;
  }
  co_return base::fail(ErrorKind::kDraining,
                       "The mark of this key keeps rising. It is above what was asked for.");
}

}  // namespace

Awaitable<Result<Reply>> AdminFences::list(Request request) {
  const std::string_view query = request.head.query;
  auto limit = page_limit(query);
  auto prefix = text_parameter(query, "prefix");
  auto after = text_parameter(query, "after");
  if (!limit) {
    co_return pass_on(limit.error());
  }
  if (!prefix) {
    co_return pass_on(prefix.error());
  }
  if (!after) {
    co_return pass_on(after.error());
  }
  using Rows = std::vector<fencing::KeyedMark>;
  const auto start = [this, &prefix, &after, &limit](base::Done<Result<Rows>> done) {
    ledger_.scan(*prefix, *after, *limit, std::move(done));
  };
  base::Error late = ledger_late(base::Applied::kNo);
  auto rows = co_await base::answer_within<Rows>(request.timers, kDeadline, std::move(late), start);
  if (!rows) {
    co_return pass_on(rows.error());
  }
  const auto suspected = [this](const fencing::KeyedMark& row) {
    return watch_.suspicion(row.key, row.mark.token, clock_.now()).has_value();
  };
  co_return json_reply(fences_json(*rows, *limit, suspected));
}

Awaitable<Result<Reply>> AdminFences::show(Request request, std::string_view raw_key) {
  auto key = key_from(raw_key);
  if (!key) {
    co_return pass_on(key.error());
  }
  auto mark = co_await find_mark(ledger_, *key, request.timers);
  if (!mark) {
    co_return pass_on(mark.error());
  }
  auto resets = co_await list_resets(ledger_, *key, request.timers);
  if (!resets) {
    co_return pass_on(resets.error());
  }
  FenceView fence{key->text(), *mark, gate_.view(*key), {}, std::move(*resets), {}};
  for (const fencing::UnsettledIntent& each : intents_.unsettled_of(*key)) {
    fence.on_record.push_back(each.intent.token);
  }
  if (!fence.durable.token.exists() && !fence.in_memory) {
    co_return base::fail(ErrorKind::kNotFound,
                         fmt::format("No token was ever seen for the key '{}'.", key->text()));
  }
  fence.suspicion = watch_.suspicion(key->text(), fence.durable.token, clock_.now());
  co_return json_reply(fence_json(fence));
}

Awaitable<Result<Reply>> AdminFences::change(Request request, std::string_view raw_key) {
  auto key = key_from(raw_key);
  if (!key) {
    co_return pass_on(key.error());
  }
  auto order = co_await read_order(request);
  if (!order) {
    co_return pass_on(order.error());
  }
  const auto* const wanted = std::get_if<RaiseOrder>(&*order);
  if (wanted != nullptr) {
    auto raised = co_await raise(request, *key, wanted->to);
    co_return raised;
  }
  fencing::ResetOrder& wish = std::get<fencing::ResetOrder>(*order);
  auto done = co_await reset(request, *key, wish);
  co_return done;
}

Awaitable<Result<Reply>> AdminFences::raise(Request request, const base::FenceKey& key,
                                            base::Token to) {
  auto raised = co_await raise_through(gate_, key, to, request.timers);
  if (!raised) {
    co_return pass_on(raised.error());
  }
  if (raised->changed) {
    const std::string mark = raised->mark.text();
    const std::string before = raised->before.text();
    base::log(base::LogLevel::kWarning, "fence_raised", "an operator raised a mark",
              {{"key", key.text()},
               {"mark", mark},
               {"previous", before},
               {"peer", request.peer},
               {"request", request.request_id}});
  }
  std::vector<base::FenceKey> keys(1, key);
  auto settled = co_await older_writes_.settle_all(std::move(keys), raised->mark, request.timers);
  if (!settled) {
    co_return pass_on(settled.error());
  }
  co_return json_reply(raised_json(key.text(), raised->before, raised->mark, raised->changed));
}

Awaitable<Result<Reply>> AdminFences::reset(Request request, const base::FenceKey& key,
                                            fencing::ResetOrder& order) {
  order.peer = std::string(request.peer);
  order.at_ms = wall_clock_ms();
  const auto start = [this, &key, &order](base::Done<Result<fencing::ResetOutcome>> done) {
    gate_.reset(key, order, std::move(done));
  };
  base::Error late = ledger_late(base::Applied::kUnknown);
  auto outcome = co_await base::answer_within<fencing::ResetOutcome>(request.timers, kDeadline,
                                                                     std::move(late), start);
  if (!outcome && outcome.error().applied == base::Applied::kNo) {
    co_return pass_on(outcome.error());
  }
  const std::string to = order.to.text();
  const std::string before = outcome ? outcome->before.token.text() : std::string();
  base::log(base::LogLevel::kWarning, "fence_reset",
            outcome ? "an operator set a mark back"
                    : "an operator set a mark back; whether it was done is not known",
            {{"key", key.text()},
             {"mark", to},
             {"previous", before},
             {"reason", order.reason},
             {"by", order.by},
             {"peer", request.peer},
             {"request", request.request_id}});
  if (!outcome) {
    co_return pass_on(outcome.error());
  }
  // Also when the ledger had the mark already: a reset that was cut short is repeated.
  auto in_stores = co_await reset_in_stores(routes_, key.text(), outcome->after.token);
  if (!in_stores) {
    co_return pass_on(in_stores.error());
  }
  co_return json_reply(reset_json(key.text(), *outcome));
}

}  // namespace fenceline::proxy
