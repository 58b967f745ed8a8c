#include "proxy/arrival.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "proxy/idempotency_key.h"
#include "proxy/s3_arrival.h"
#include "proxy/token_header.h"

namespace fenceline::proxy {
namespace {

using base::ErrorKind;
using base::pass_on;
using base::Result;

Result<void> find_route(const RouteTable& routes, Exchange& exchange) {
  const base::RequestHead& head = exchange.request.head;
  if (auto decoded = decode_path(head.path, exchange.target); !decoded) {
    return decoded;
  }
  exchange.route = routes.find(exchange.target.segments, exchange.captures);
  if (exchange.route == nullptr) {
    return base::fail(ErrorKind::kNotFound,
                      "No route takes this path. GET /v1/routes on the admin listener lists them.");
  }
  return {};
}

Result<void> check_method(const Exchange& exchange) {
  const Route& route = *exchange.route;
  if (std::ranges::find(route.methods, exchange.request.head.method_text) == route.methods.end()) {
    auto refusal = base::fail(ErrorKind::kMethodNotAllowed,
                              fmt::format("The route {} takes {}.", route.name, route.allow));
    refusal.value().fields.emplace_back("Allow", route.allow);
    return refusal;
  }
  return {};
}

Result<void> check_length(const Exchange& exchange) {
  const base::RequestHead& head = exchange.request.head;
  const Route& route = *exchange.route;
  if (head.method == base::Method::kPut && !head.content_length && !head.chunked) {
    // Taken as "no body" (RFC 9112, 6.3) it would empty the file of a client that forgot to say.
    return base::fail(ErrorKind::kLengthRequired,
                      "A PUT needs Content-Length, also for an empty body, or "
                      "'Transfer-Encoding: chunked'.");
  }
  if (!exchange.is_read && head.content_length.value_or(0) > route.max_body_bytes) {
    return base::fail(ErrorKind::kBodyTooLarge,
                      fmt::format("The body has {} bytes; the route {} takes at most {} "
                                  "(limits.body).",
                                  *head.content_length, route.name, route.max_body_bytes));
  }
  return {};
}

Result<void> read_claim(std::span<const std::string> token_fields, Exchange& exchange) {
  const Route& route = *exchange.route;
  if (!route.fenced()) {
    return {};
  }
  auto key = route.fence.key(exchange.captures);
  if (!key) {
    return pass_on(key.error());
  }
  exchange.key = std::move(*key);
  auto token = token_from(exchange.request.head, token_fields);
  if (!token) {
    return pass_on(token.error());
  }
  auto holder = holder_from(exchange.request.head);
  if (!holder) {
    return pass_on(holder.error());
  }
  exchange.token = token->value_or(base::Token());
  exchange.holder = std::move(*holder);
  if (!exchange.token.exists() && !exchange.is_read && route.writes == config::Writes::kRequired) {
    return base::fail(ErrorKind::kTokenRequired,
                      fmt::format("Writes on the route {} need a fencing token: send the number "
                                  "that came with your lease as '{}: <token>'.",
                                  route.name, token_fields.front()));
  }
  return {};
}

}  // namespace

base::Result<void> read_idempotency(Exchange& exchange) {
  const Route& route = *exchange.route;
  if (!route.idempotency || exchange.is_read || exchange.only_stages) {
    return {};
  }
  auto key = idempotency_key_from(exchange.request.head);
  if (!key) {
    return pass_on(key.error());
  }
  if (!*key) {
    return route.idempotency->required
               ? base::fail(ErrorKind::kIdempotencyRequired,
                            fmt::format("Writes on the route {} need an idempotency key: send "
                                        "'Idempotency-Key: <key>', a new one for each new request "
                                        "and the same when it is repeated.",
                                        route.name))
               : Result<void>();
  }
  if (!exchange.more_keys.empty() || (exchange.s3 && exchange.s3->keys_are_in_body())) {
    return base::fail(ErrorKind::kMalformedRequest,
                      "A request that names several objects takes no Idempotency-Key. Leave it "
                      "out; deleting an object again changes nothing.");
  }
  // No part holds a line feed. Fences are keys of their own, so that one client's keys cannot meet
  // those of another tenant.
  base::Once once{.key = fmt::format("{}\n{}\n{}", route.name,
                                     exchange.key ? exchange.key->text() : std::string(), **key),
                  .print = {},
                  .ttl = route.idempotency->ttl};
  exchange.once = std::make_unique<RepeatableWrite>(std::move(once), exchange.plain_body());
  return {};
}

base::Result<void> check_arrival(const RouteTable& routes,
                                 std::span<const std::string> token_fields, Exchange& exchange) {
  S3Place place;
  auto found = routes.has_s3() ? find_route_beside_s3(routes, exchange, place)
                               : find_route(routes, exchange);
  if (!found) {
    return found;
  }
  if (auto taken = check_method(exchange); !taken) {
    return taken;
  }
  if (exchange.route->s3 != nullptr) {
    return check_s3_arrival(token_fields, std::move(place), exchange);
  }
  exchange.is_read = exchange.route->backend->is_read(exchange.request.head);
  if (auto fits = check_length(exchange); !fits) {
    return fits;
  }
  return read_claim(token_fields, exchange).and_then([&] { return read_idempotency(exchange); });
}

bool is_fence_refusal(ErrorKind kind) {
  return kind == ErrorKind::kStaleToken || kind == ErrorKind::kHolderConflict ||
         kind == ErrorKind::kTokenTooFarAhead || kind == ErrorKind::kTokenRequired ||
         kind == ErrorKind::kMalformedToken || kind == ErrorKind::kDraining ||
         kind == ErrorKind::kLedgerUnavailable;
}

}  // namespace fenceline::proxy
