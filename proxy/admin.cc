#include "proxy/admin.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <charconv>
#include <optional>
#include <utility>

#include "base/deadline.h"
#include "proxy/admin_json.h"
#include "proxy/problem.h"
#include "proxy/target.h"

namespace fenceline::proxy {
namespace {

using base::Awaitable;
using base::ErrorKind;
using base::Reply;
using base::Result;

constexpr base::Milliseconds kLedgerDeadline{5000};
constexpr std::size_t kMaxPage = 1000;
constexpr std::size_t kDefaultPage = 100;

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

tl::unexpected<base::Error> pass_on(base::Error& error) {
  return tl::unexpected<base::Error>(std::move(error));
}

base::Error ledger_late() {
  return {ErrorKind::kLedgerUnavailable,
          "The ledger did not answer in time. Try again later.",
          base::Applied::kNo,
          {}};
}

/// The page size that a query asks for.
Result<std::size_t> page_limit(std::string_view query) {
  auto text = query_parameter(query, "limit");
  if (!text) {
    return pass_on(text.error());
  }
  if (!text->has_value()) {
    return kDefaultPage;
  }
  const std::string& digits = **text;
  std::size_t limit = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), limit);
  if (error != std::errc() || end != digits.data() + digits.size() || limit < 1 ||
      limit > kMaxPage) {
    return base::fail(ErrorKind::kMalformedRequest,
                      fmt::format("limit must be a number from 1 to {}.", kMaxPage));
  }
  return limit;
}

/// A query parameter that may be left out.
Result<std::string> parameter(std::string_view query, std::string_view name) {
  auto value = query_parameter(query, name);
  if (!value) {
    return pass_on(value.error());
  }
  return std::move(*value).value_or(std::string());
}

class Admin final : public Handler {
 public:
  explicit Admin(AdminParts parts) : parts_(std::move(parts)) {}

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
    if (auto allowed = check_access(head); !allowed) {
      co_return pass_on(allowed.error());
    }
    constexpr std::string_view kFence = "/v1/fences/";
    if (head.path == "/v1/fences") {
      co_return co_await list_fences(request);
    }
    if (head.path.substr(0, kFence.size()) == kFence) {
      co_return co_await show_fence(request, head.path.substr(kFence.size()));
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
      return text_reply(parts_.metrics.text(), "text/plain; version=0.0.4; charset=utf-8");
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
        "/v1/routes, /v1/rejections and /v1/stamp.");
  }

  Result<void> check_access(const base::RequestHead& head) const {
    if (head.method != base::Method::kGet && head.method != base::Method::kHead) {
      auto refusal = base::fail(ErrorKind::kMethodNotAllowed, "The admin API takes GET and HEAD.");
      refusal.value().fields.emplace_back("Allow", "GET, HEAD");
      return refusal;
    }
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

  Awaitable<Result<Reply>> list_fences(Request request) {
    const std::string_view query = request.head.query;
    auto limit = page_limit(query);
    auto prefix = parameter(query, "prefix");
    auto after = parameter(query, "after");
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
      parts_.ledger.scan(*prefix, *after, *limit, std::move(done));
    };
    base::Error late = ledger_late();
    auto rows =
        co_await base::answer_within<Rows>(request.timers, kLedgerDeadline, std::move(late), start);
    if (!rows) {
      co_return pass_on(rows.error());
    }
    co_return json_reply(fences_json(*rows, *limit));
  }

  Awaitable<Result<Reply>> show_fence(Request request, std::string_view raw_key) {
    auto decoded = percent_decode(raw_key, "fence key");
    if (!decoded) {
      co_return pass_on(decoded.error());
    }
    auto key = base::FenceKey::parse(std::move(*decoded));
    if (!key) {
      co_return pass_on(key.error());
    }
    const auto start = [this, key = *key](base::Done<Result<fencing::Mark>> done) {
      parts_.ledger.find(key, std::move(done));
    };
    base::Error late = ledger_late();
    auto mark = co_await base::answer_within<fencing::Mark>(request.timers, kLedgerDeadline,
                                                            std::move(late), start);
    if (!mark) {
      co_return pass_on(mark.error());
    }
    const std::optional<fencing::KeyView> view = parts_.gate.view(*key);
    if (!mark->token.exists() && !view) {
      co_return base::fail(ErrorKind::kNotFound,
                           fmt::format("No token was ever seen for the key '{}'.", key->text()));
    }
    co_return json_reply(fence_json(key->text(), *mark, view));
  }

  Result<Reply> show_stamp(const base::RequestHead& head) {
    auto route_name = parameter(head.query, "route");
    if (!route_name) {
      return pass_on(route_name.error());
    }
    auto name = parameter(head.query, "name");
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
};

}  // namespace

std::unique_ptr<Handler> make_admin(AdminParts parts) {
  return std::make_unique<Admin>(std::move(parts));
}

}  // namespace fenceline::proxy
