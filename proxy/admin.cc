#include "proxy/admin.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <utility>

#include "proxy/admin_fences.h"
#include "proxy/admin_json.h"
#include "proxy/admin_query.h"
#include "proxy/admin_unsettled.h"
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
        unsettled_(parts_.intents, parts_.ledger, parts_.clock) {}

  Awaitable<Reply> handle(Request request) override {
    auto outcome = co_await route(request);
    if (!outcome) {
      co_return problem_reply(outcome.error());
    }
    co_return std::move(*outcome);
  }

 private:
  Awaitable<Result<Reply>> route(Request request) {
    const base::RequestHead& head = request.head;
    constexpr std::string_view kFence = "/v1/fences/";
    constexpr std::string_view kUnsettled = "/v1/unsettled/";
    const bool one_fence = head.path.substr(0, kFence.size()) == kFence;
    const bool unsettled_key = head.path.substr(0, kUnsettled.size()) == kUnsettled;
    if (auto allowed = check_method(head, one_fence, unsettled_key); !allowed) {
      co_return pass_on(allowed.error());
    }
    if (auto allowed = check_access(head); !allowed) {
      co_return pass_on(allowed.error());
    }
    if (head.path == "/v1/fences") {
      co_return co_await fences_.list(request);
    }
    if (one_fence) {
      const std::string_view key = head.path.substr(kFence.size());
      if (head.method == base::Method::kPost) {
        co_return co_await fences_.change(request, key);
      }
      co_return co_await fences_.show(request, key);
    }
    if (unsettled_key) {
      const std::string_view key = head.path.substr(kUnsettled.size());
      co_return co_await unsettled_.settle(request, key);
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
        "/v1/unsettled, /v1/unsettled/{key}, /v1/routes, /v1/rejections and /v1/stamp.");
  }

  static Result<void> check_method(const base::RequestHead& head, bool one_fence,
                                   bool unsettled_key) {
    const bool reads = head.method == base::Method::kGet || head.method == base::Method::kHead;
    const bool orders = head.method == base::Method::kPost;
    if ((reads && !unsettled_key) || (orders && (one_fence || unsettled_key))) {
      return {};
    }
    auto refusal =
        base::fail(ErrorKind::kMethodNotAllowed,
                   "The admin API takes GET and HEAD, POST on /v1/fences/{key}, and only "
                   "POST on /v1/unsettled/{key}.");
    const char* const otherwise = one_fence ? "GET, HEAD, POST" : "GET, HEAD";
    refusal.value().fields.emplace_back("Allow", unsettled_key ? "POST" : otherwise);
    return refusal;
  }

  Result<void> check_access(const base::RequestHead& head) const {
    if (parts_.bearer_token.empty() || head.path == "/healthz") {
      return {};
    }
    // The name of the scheme is case-insensitive (RFC 9110, 11.1), the token is not.
    constexpr std::string_view kScheme = "Bearer ";
    const std::string_view given = head.only("Authorization").value_or("");
    const std::string& wanted = parts_.bearer_token;
    if (given.size() == kScheme.size() + wanted.size() &&
        base::equal_names(given.substr(0, kScheme.size()), kScheme) &&
        CRYPTO_memcmp(given.data() + kScheme.size(), wanted.data(), wanted.size()) == 0) {
      return {};
    }
    auto refusal = base::fail(ErrorKind::kUnauthorized,
                              "Send the admin token as 'Authorization: Bearer <token>'.");
    refusal.value().fields.emplace_back("WWW-Authenticate", "Bearer");
    return refusal;
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
};

}  // namespace

std::unique_ptr<Handler> make_admin(AdminParts parts) {
  return std::make_unique<Admin>(std::move(parts));
}

}  // namespace fenceline::proxy
