#include "proxy/lease_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/aws/query.h"
#include "base/deadline.h"
#include "proxy/admin_order.h"
#include "proxy/admin_query.h"
#include "proxy/bearer.h"
#include "proxy/client_watch.h"
#include "proxy/lease_json.h"
#include "proxy/lease_request.h"
#include "proxy/older_writes.h"
#include "proxy/problem.h"

namespace fenceline::proxy {
namespace {

using base::Awaitable;
using base::ErrorKind;
using base::pass_on;
using base::Reply;
using base::Result;
using fencing::AcquireOrder;
using fencing::LeaseView;
using fencing::Lessor;

/// For the ledger, beside what an order may wait for.
constexpr base::Milliseconds kLedgerDeadline{5000};

/// Above the largest `leases.max_wait`: an order that asks for more is refused by the lessor.
constexpr base::Milliseconds kLongestWait{24LL * 60 * 60 * 1000};

Reply json_reply(std::string body, int status = 200) {
  Reply reply;
  reply.status = status;
  reply.add("Content-Type", "application/json");
  reply.add("Cache-Control", "no-store");  // Holds a secret, or is old at once.
  reply.body = std::move(body);
  return reply;
}

base::Error late(const char* what) {
  return {ErrorKind::kLedgerUnavailable,
          fmt::format("The ledger did not answer in time, and may still {}. Look at the lease "
                      "before you do anything under it.",
                      what),
          base::Applied::kUnknown,
          {}};
}

/// One acquire between the lessor, the client and the clock of its core. Whatever ends first: the
/// lessor answers exactly once, so that no lease is granted that nobody hears of.
class Acquire {
 public:
  Acquire(Lessor& lessor, Request request, AcquireOrder order, base::Milliseconds at_most)
      : lessor_(lessor),
        client_(request.client),
        order_(std::move(order)),
        at_most_(at_most),
        overdue_(request.timers, [this] {
          is_overdue_ = true;
          lessor_.cancel(attempt_);
        }) {}

  void start(base::Done<Result<LeaseView>> done) {
    overdue_.arm(at_most_);
    attempt_ = lessor_.acquire(std::move(order_), std::move(done));
    if (client_ != nullptr) {
      client_->start([this] { lessor_.cancel(attempt_); });
    }
  }

  /// The lessor has answered.
  void end() {
    overdue_.disarm();
    if (client_ != nullptr) {
      client_->stop();
    }
  }

  /// The time was over before the lessor had answered.
  [[nodiscard]] bool is_overdue() const { return is_overdue_; }

  /// True if nobody would read the answer.
  [[nodiscard]] bool undeliverable() const { return client_ != nullptr && client_->gone(); }

 private:
  Lessor& lessor_;
  ClientWatch* client_;
  AcquireOrder order_;
  base::Milliseconds at_most_;
  Lessor::Attempt attempt_ = 0;
  bool is_overdue_ = false;
  base::Timer overdue_;
};

class LeaseService final : public Handler {
 public:
  explicit LeaseService(LeaseServiceParts parts)
      : parts_(std::move(parts)), older_writes_(parts_.intents, parts_.routes, parts_.clock) {}

  Awaitable<Reply> handle(Request request) override {
    auto outcome = co_await answer(request);
    if (!outcome) {
      parts_.audit.refused(outcome.error().kind);
      ProblemFacts facts;
      facts.request_id = request.request_id;
      co_return problem_reply(outcome.error(), facts);
    }
    co_return std::move(*outcome);
  }

 private:
  Awaitable<Result<Reply>> answer(Request request) {
    auto call = lease_call(request.head, parts_.settings.path);
    if (!call) {
      co_return pass_on(call.error());
    }
    const std::string wanted = parts_.settings.token.value_or("");
    if (auto allowed = check_bearer(request.head, wanted, "the token of the lease service");
        !allowed) {
      co_return pass_on(allowed.error());
    }
    if (call->verb == LeaseVerb::kList) {
      co_return list(request.head);
    }
    std::optional<base::FenceKey> key;
    if (request.head.path.size() > parts_.settings.path.size()) {
      auto parsed = key_from(call->raw_key);
      if (!parsed) {
        co_return pass_on(parsed.error());
      }
      key = std::move(*parsed);
    }
    switch (call->verb) {
      case LeaseVerb::kAcquire:
        co_return co_await acquire(request, std::move(key));
      case LeaseVerb::kRenew:
        co_return co_await renew(request, *key, call->lease);
      case LeaseVerb::kRelease:
        co_return co_await release(request, *key, call->lease);
      default:
        break;
    }
    co_return show(*key);
  }

  Awaitable<Result<Reply>> acquire(Request request, std::optional<base::FenceKey> key);
  Awaitable<Result<LeaseView>> settle_older(LeaseView view, base::TimerWheel& timers);
  Awaitable<Result<Reply>> renew(Request request, base::FenceKey key, std::string_view lease);
  Awaitable<Result<Reply>> release(Request request, base::FenceKey key, std::string_view lease);

  Result<Reply> show(const base::FenceKey& key) {
    const auto view = parts_.lessor.show(key);
    if (!view) {
      return base::fail(ErrorKind::kNotFound,
                        fmt::format("Nobody holds '{}' or waits for it.", key.text()));
    }
    return json_reply(lease_key_json(key, *view));
  }

  Result<Reply> list(const base::RequestHead& head) {
    auto limit = page_limit(head.query);
    auto prefix = text_parameter(head.query, "prefix");
    auto after = text_parameter(head.query, "after");
    for (auto* const each : {&prefix, &after}) {
      if (!*each) {
        return pass_on(each->error());
      }
    }
    if (!limit) {
      return pass_on(limit.error());
    }
    return json_reply(leases_json(parts_.lessor.list(*prefix, *after, *limit), *limit));
  }

  /// Of a lease that has been granted, with its place.
  [[nodiscard]] Reply granted(const LeaseView& view) const {
    Reply reply = json_reply(granted_json(view), view.repeated ? 200 : 201);
    std::string location = parts_.settings.path + "/";
    base::aws::append_encoded(location, view.lease.keys.front().text(), true);
    location += '/';
    location += view.lease.id;
    reply.add("Location", location);
    return reply;
  }

  LeaseServiceParts parts_;
  OlderWrites older_writes_;
};

Awaitable<Result<Reply>> LeaseService::acquire(Request request, std::optional<base::FenceKey> key) {
  auto body = co_await read_order_body(request);
  if (!body) {
    co_return pass_on(body.error());
  }
  auto order = parse_acquire(*body, std::move(key), parts_.settings.lock_delay);
  if (!order) {
    co_return pass_on(order.error());
  }
  if (order->request_id.empty()) {
    order->request_id = parts_.make_id();
  }
  const base::MonotonicTime began = parts_.clock.now();
  const base::Milliseconds at_most =
      std::min(order->wait, kLongestWait) + parts_.settings.drain + kLedgerDeadline;
  Acquire waiting(parts_.lessor, request, std::move(*order), at_most);
  const auto start = [&waiting](base::Done<Result<LeaseView>> done) {
    waiting.start(std::move(done));
  };
  auto view = co_await base::from_callback<Result<LeaseView>>(start);
  if (view && (view->repeated || !older_writes_.none())) {
    LeaseView granted_now = std::move(*view);
    view = co_await settle_older(std::move(granted_now), request.timers);
  }
  waiting.end();
  if (!view && view.error().kind == ErrorKind::kClientGone && waiting.is_overdue()) {
    co_return base::fail(ErrorKind::kLedgerUnavailable,
                         "The lease could not be granted in time, and was given up. Try again.");
  }
  if (!view) {
    co_return pass_on(view.error());
  }
  if (!view->repeated) {
    if (waiting.undeliverable()) {
      parts_.lessor.release(view->lease.keys.front(), view->lease.id, [](const auto& /*done*/) {});
      co_return base::fail(ErrorKind::kClientGone, "The client has gone before its turn came.");
    }
    const auto took = std::chrono::duration_cast<base::Milliseconds>(parts_.clock.now() - began);
    parts_.audit.acquired(took, view->waited);
  }
  co_return granted(*view);
}

/// The marks are raised, so no older write goes on record any more; those that are there come
/// first.
Awaitable<Result<LeaseView>> LeaseService::settle_older(LeaseView view, base::TimerWheel& timers) {
  const base::FenceKey key = view.lease.keys.front();
  std::vector<base::FenceKey> keys = view.lease.keys;
  auto settled = co_await older_writes_.settle_all(std::move(keys), view.lease.token, timers);
  if (!settled) {
    // One that was repeated is given back, or not, by whoever was granted it.
    if (!view.repeated) {
      parts_.lessor.give_back(key, view.lease.id);
    }
    co_return pass_on(settled.error());
  }
  auto confirmed = parts_.lessor.confirm(key, view.lease.id);
  if (!confirmed) {
    co_return pass_on(confirmed.error());
  }
  view.left = confirmed->left;
  co_return view;
}

Awaitable<Result<Reply>> LeaseService::renew(Request request, base::FenceKey key,
                                             std::string_view lease) {
  std::string text;
  if (request.head.chunked || request.head.content_length.value_or(0) > 0) {
    auto body = co_await read_order_body(request);
    if (!body) {
      co_return pass_on(body.error());
    }
    text = std::move(*body);
  }
  auto ttl = parse_renew(text);
  if (!ttl) {
    co_return pass_on(ttl.error());
  }
  const std::string id(lease);
  const auto start = [this, &key, &id, &ttl](base::Done<Result<LeaseView>> done) {
    parts_.lessor.renew(key, id, *ttl, std::move(done));
  };
  base::Error overdue = late("extend the lease");
  auto view = co_await base::answer_within<LeaseView>(request.timers, kLedgerDeadline,
                                                      std::move(overdue), start);
  if (!view) {
    co_return pass_on(view.error());
  }
  parts_.audit.renewed();
  co_return json_reply(granted_json(*view));
}

Awaitable<Result<Reply>> LeaseService::release(Request request, base::FenceKey key,
                                               std::string_view lease) {
  const std::string id(lease);
  const auto start = [this, &key, &id](base::Done<Result<void>> done) {
    parts_.lessor.release(key, id, std::move(done));
  };
  base::Error overdue = late("end the lease");
  auto done = co_await base::answer_within<void>(request.timers, kLedgerDeadline,
                                                 std::move(overdue), start);
  if (!done) {
    co_return pass_on(done.error());
  }
  Reply reply;
  reply.status = 204;
  co_return reply;
}

class LeaseFront final : public Handler {
 public:
  LeaseFront(std::string path, Handler& leases, Handler& pipeline, const RouteTable& routes)
      : path_(std::move(path)), leases_(leases), pipeline_(pipeline), routes_(routes) {}

  Awaitable<Reply> handle(Request request) override {
    const bool for_leases = is_below(request.head.path, path_) && !names_bucket(request.head);
    return for_leases ? leases_.handle(request) : pipeline_.handle(request);
  }

 private:
  [[nodiscard]] bool names_bucket(const base::RequestHead& head) const {
    S3Place ignored;
    return routes_.has_s3() &&
           routes_.find_s3_by_host(head.only("Host").value_or(""), head.path, ignored) != nullptr;
  }

  std::string path_;
  Handler& leases_;
  Handler& pipeline_;
  const RouteTable& routes_;
};

}  // namespace

std::unique_ptr<Handler> make_lease_service(LeaseServiceParts parts) {
  return std::make_unique<LeaseService>(std::move(parts));
}

std::unique_ptr<Handler> make_lease_front(std::string path, Handler& leases, Handler& pipeline,
                                          const RouteTable& routes) {
  return std::make_unique<LeaseFront>(std::move(path), leases, pipeline, routes);
}

}  // namespace fenceline::proxy
