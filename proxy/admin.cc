#include "proxy/admin.h"

#include <fmt/format.h>

#include <utility>

#include "proxy/admin_fences.h"
#include "proxy/admin_json.h"
#include "proxy/admin_leases.h"
#include "proxy/admin_query.h"
#include "proxy/admin_unsettled.h"
#include "proxy/bearer.h"
#include "proxy/problem.h"

namespace fenceline::proxy {
namespace {

using base::Awaitable;
using base::ErrorKind;
using base::pass_on;
using base::Reply;
using base::Result;

Reply json_reply(std::string body, int status = 200) {
  Reply reply;
  reply.status = status;
  reply.add("Content-Type", "application/json");
  reply.body = std::move(body);
  return reply;
}

Reply text_reply(std::string body, std::string_view type) {
  Reply reply;
  reply.add("Content-Type", type);
  reply.body = std::move(body);
  return reply;
}

class Admin final : public Handler {
 public:
  explicit Admin(AdminParts parts)
      : parts_(std::move(parts)),
        fences_(parts_.routes, parts_.gate, parts_.ledger, parts_.intents, parts_.source_watch,
                parts_.clock),
        unsettled_(parts_.intents, parts_.ledger, parts_.clock),
        leases_(parts_.lessor, OlderWrites(parts_.intents, parts_.routes, parts_.clock)) {}

  Awaitable<Reply> handle(Request request) override {
    auto outcome = co_await route(request);
    if (!outcome) {
      co_return problem_reply(outcome.error());
    }
    co_return std::move(*outcome);
  }

 private:
  /// Paths that name a key in their rest.
  struct Keyed {
    std::string_view raw_key;
    bool fence = false;
    bool lease = false;
    bool unsettled = false;

    explicit Keyed(std::string_view path) {
      fence = cut(path, "/v1/fences/");
      lease = cut(path, "/v1/leases/");
      unsettled = cut(path, "/v1/unsettled/");
    }

   private:
    bool cut(std::string_view path, std::string_view before) {
      if (!path.starts_with(before)) {
        return false;
      }
      raw_key = path.substr(before.size());
      return true;
    }
  };

  Awaitable<Result<Reply>> route(Request request) {
    const base::RequestHead& head = request.head;
    const Keyed keyed(head.path);
    if (auto allowed = check_method(head, keyed); !allowed) {
      co_return pass_on(allowed.error());
    }
    if (auto allowed = check_access(head); !allowed) {
      co_return pass_on(allowed.error());
    }
    const bool orders = head.method == base::Method::kPost;
    if (head.path == "/v1/fences") {
      co_return co_await fences_.list(request);
    }
    if (keyed.fence && orders) {
      co_return co_await fences_.change(request, keyed.raw_key);
    }
    if (keyed.fence) {
      co_return co_await fences_.show(request, keyed.raw_key);
    }
    if (keyed.lease && orders) {
      co_return co_await leases_.change(request, keyed.raw_key);
    }
    if (keyed.lease) {
      co_return leases_.show(keyed.raw_key);
    }
    if (keyed.unsettled) {
      co_return co_await unsettled_.settle(request, keyed.raw_key);
    }
    co_return plain_view(head);
  }

  /// Everything that needs no ledger.
  Result<Reply> plain_view(const base::RequestHead& head) {
    if (head.path == "/healthz") {
      return text_reply("ok\n", "text/plain; charset=utf-8");
    }
    if (head.path == "/readyz") {
      const std::vector<std::string> reasons = parts_.not_ready();
      return json_reply(readiness_json(reasons), reasons.empty() ? 200 : 503);
    }
    if (head.path == "/metrics") {
      parts_.ready.set(parts_.not_ready().empty() ? 1 : 0);
      parts_.unsettled.set(static_cast<double>(parts_.intents.unsettled_count()));
      return text_reply(parts_.metrics.text(), "text/plain; version=0.0.4; charset=utf-8");
    }
    if (head.path == "/v1/leases") {
      return leases_.list(head);
    }
    if (head.path == "/v1/unsettled") {
      return unsettled_.list(head);
    }
    if (head.path == "/v1/routes") {
      return json_reply(routes_json(parts_.routes.routes()));
    }
    if (head.path == "/v1/rejections") {
      auto limit = page_limit(head.query);
      if (!limit) {
        return pass_on(limit.error());
      }
      return json_reply(rejections_json(parts_.rejections.latest(*limit)));
    }
    if (head.path == "/v1/stamp") {
      return show_stamp(head);
    }
    return base::fail(
        ErrorKind::kNotFound,
        "The admin API has /healthz, /readyz, /metrics, /v1/fences, /v1/fences/{key}, "
        "/v1/leases, /v1/leases/{key}, /v1/unsettled, /v1/unsettled/{key}, /v1/routes, "
        "/v1/rejections and /v1/stamp.");
  }

  static Result<void> check_method(const base::RequestHead& head, const Keyed& keyed) {
    const bool reads = head.method == base::Method::kGet || head.method == base::Method::kHead;
    const bool orders = head.method == base::Method::kPost;
    const bool takes_orders = keyed.fence || keyed.lease || keyed.unsettled;
    if ((reads && !keyed.unsettled) || (orders && takes_orders)) {
      return {};
    }
    auto refusal = base::fail(ErrorKind::kMethodNotAllowed,
                              "The admin API takes GET and HEAD, POST on /v1/fences/{key} and "
                              "/v1/leases/{key}, and only POST on /v1/unsettled/{key}.");
    const char* const otherwise = takes_orders ? "GET, HEAD, POST" : "GET, HEAD";
    refusal.value().fields.emplace_back("Allow", keyed.unsettled ? "POST" : otherwise);
    return refusal;
  }

  Result<void> check_access(const base::RequestHead& head) const {
    if (head.path == "/healthz") {
      return {};
    }
    return check_bearer(head, parts_.bearer_token, "the admin token");
  }

  Result<Reply> show_stamp(const base::RequestHead& head) {
    auto route_name = text_parameter(head.query, "route");
    if (!route_name) {
      return pass_on(route_name.error());
    }
    auto name = text_parameter(head.query, "name");
    if (!name) {
      return pass_on(name.error());
    }
    for (const Route& route : parts_.routes.routes()) {
      if (route.name == *route_name) {
        if (!route.backend->shows_stamps()) {
          return base::fail(ErrorKind::kNotFound,
                            fmt::format("The stamps of the route '{}' cannot be looked up here: an "
                                        "http upstream keeps none, and S3 has them as the metadata "
                                        "x-amz-meta-fencing-token and -request of the object.",
                                        *route_name));
        }
        auto stamp = route.backend->find_stamp(*name);
        if (!stamp) {
          return pass_on(stamp.error());
        }
        return json_reply(stamp_json(*route_name, *name, *stamp));
      }
    }
    return base::fail(
        ErrorKind::kNotFound,
        fmt::format("There is no route '{}'. Send ?route=<route>&name=<resource>.", *route_name));
  }

  AdminParts parts_;
  AdminFences fences_;
  AdminUnsettled unsettled_;
  AdminLeases leases_;
};

}  // namespace

std::unique_ptr<Handler> make_admin(AdminParts parts) {
  return std::make_unique<Admin>(std::move(parts));
}

}  // namespace fenceline::proxy
