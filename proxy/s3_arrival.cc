#include "proxy/s3_arrival.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "backends/s3/delete_document.h"
#include "proxy/arrival.h"
#include "proxy/token_header.h"

namespace fenceline::proxy {
namespace {

using backends::s3::Effect;
using backends::s3::Keys;
using base::ErrorKind;
using base::pass_on;
using base::Result;

Result<void> check_length(const Exchange& exchange) {
  const base::RequestHead& head = exchange.request.head;
  const Route& route = *exchange.route;
  const bool copies = head.count("x-amz-copy-source") > 0;
  if (head.method == base::Method::kPut && !copies && !head.content_length && !head.chunked) {
    return base::fail(ErrorKind::kLengthRequired,
                      "A PUT needs Content-Length, also for an empty body, or "
                      "'Transfer-Encoding: chunked'.");
  }
  const auto declared = exchange.s3->body->declared_bytes();
  if (!exchange.is_read && declared.value_or(0) > route.max_body_bytes) {
    auto refusal = base::fail(ErrorKind::kBodyTooLarge,
                              fmt::format("The content has {} bytes; the route {} takes at most {} "
                                          "(limits.body).",
                                          *declared, route.name, route.max_body_bytes));
    refusal.value().code = "EntityTooLarge";
    return refusal;
  }
  return {};
}

/// Puts what the pattern would have captured in place. `key` outlives the captures.
void capture(const std::string& bucket, const std::string& key, bool any_bucket,
             config::Captures& into) {
  into.values.clear();
  if (any_bucket) {
    into.values.push_back(bucket);
    into.joined = bucket;
    into.joined.append(key.empty() ? "" : "/").append(key);
    into.resource_name = into.joined;
  } else {
    into.resource_name = key;
  }
  into.values.push_back(key);
}

Result<base::FenceKey> key_of(const Exchange& exchange, const std::string& key) {
  config::Captures captures;
  capture(exchange.s3->request.bucket, key, exchange.route->s3->paths().any_bucket(), captures);
  return exchange.route->fence.key(captures);
}

Result<void> read_token(std::span<const std::string> token_fields, Exchange& exchange) {
  auto from_field = token_from(exchange.request.head, token_fields);
  if (!from_field) {
    return pass_on(from_field.error());
  }
  auto token = s3_token(*from_field, exchange.request.head, *exchange.s3);
  if (!token) {
    return pass_on(token.error());
  }
  auto holder = holder_from(exchange.request.head);
  if (!holder) {
    return pass_on(holder.error());
  }
  exchange.token = token->value_or(base::Token());
  exchange.holder = std::move(*holder);
  return {};
}

Result<void> check_token(Exchange& exchange) {
  const backends::s3::Operation& operation = *exchange.s3->request.operation;
  const bool names_objects = operation.keys != Keys::kNone;
  const bool writes = operation.effect == Effect::kStage || operation.effect == Effect::kCommit;
  if (exchange.token.exists() || !writes || !names_objects ||
      exchange.route->writes != config::Writes::kRequired) {
    return {};
  }
  return base::fail(ErrorKind::kTokenRequired,
                    fmt::format("{} on the route {} needs a fencing token: send the number that "
                                "came with your lease as the session token fence-<token>, such as "
                                "AWS_SESSION_TOKEN=fence-34, or as a signed field Fencing-Token.",
                                operation.name, exchange.route->name));
}

}  // namespace

Result<void> find_route_beside_s3(const RouteTable& routes, Exchange& exchange, S3Place& place) {
  const base::RequestHead& head = exchange.request.head;
  const std::string_view host = head.only("Host").value_or(std::string_view());
  exchange.route = routes.find_s3_by_host(host, head.path, place);
  if (exchange.route != nullptr) {
    return {};
  }
  auto decoded = decode_path(head.path, exchange.target);
  if (decoded) {
    exchange.route = routes.find(exchange.target.segments, exchange.captures);
    if (exchange.route != nullptr && exchange.route->s3 == nullptr) {
      return {};
    }
  }
  auto found = routes.find_s3_by_path(head.path, place);
  if (!found) {
    return pass_on(found.error());
  }
  exchange.route = *found;
  if (exchange.route == nullptr && decoded) {
    return base::fail(ErrorKind::kNotFound,
                      "No route takes this path. GET /v1/routes on the admin listener lists them.");
  }
  return exchange.route == nullptr ? std::move(decoded) : Result<void>();
}

Result<void> check_s3_arrival(std::span<const std::string> token_fields, S3Place place,
                              Exchange& exchange) {
  const Route& route = *exchange.route;
  exchange.s3 = std::make_unique<S3Exchange>();
  S3Exchange& s3 = *exchange.s3;
  auto arrived =
      route.s3->arrive(exchange.request.head, std::move(place), exchange.request.body, s3);
  if (!arrived) {
    return arrived;
  }
  exchange.is_read = s3.request.operation->effect == Effect::kRead;
  exchange.only_stages = s3.request.operation->effect == Effect::kStage;
  capture(s3.request.bucket, s3.request.key, route.s3->paths().any_bucket(), exchange.captures);
  if (auto fits = check_length(exchange); !fits) {
    return fits;
  }
  if (!route.fenced()) {
    return read_idempotency(exchange);
  }
  if (auto token = read_token(token_fields, exchange); !token) {
    return token;
  }
  if (s3.request.operation->keys == Keys::kObject) {
    auto key = route.fence.key(exchange.captures);
    if (!key) {
      return pass_on(key.error());
    }
    exchange.key = std::move(*key);
  }
  return check_token(exchange).and_then([&] { return read_idempotency(exchange); });
}

base::Awaitable<Result<void>> read_keys_from_body(Exchange& exchange, StagedBytes& staged) {
  S3Exchange& s3 = *exchange.s3;
  s3.document = std::make_unique<MeteredBody>(*s3.body, exchange.route->max_body_bytes, staged);
  s3.document->limit_idle(exchange.route->body_idle);
  std::string xml;
  while (true) {
    auto piece = co_await s3.document->read();
    if (!piece) {
      co_return pass_on(piece.error());
    }
    if (piece->empty()) {
      break;
    }
    if (xml.size() + piece->size() > backends::s3::kMaxDeleteDocumentBytes) {
      co_return base::fail(ErrorKind::kBodyTooLarge,
                           fmt::format("The document has more than {} bytes. Name fewer objects in "
                                       "one request.",
                                       backends::s3::kMaxDeleteDocumentBytes));
    }
    xml += *piece;
  }
  auto document = backends::s3::parse_delete_document(xml);
  if (!document) {
    co_return pass_on(document.error());
  }
  s3.request.document = backends::s3::write_delete_document(*document);
  s3.request.named = std::move(*document);
  if (!exchange.route->fenced()) {
    co_return Result<void>();
  }
  for (const backends::s3::Deletion& each : s3.request.named.deletions) {
    auto key = key_of(exchange, each.key);
    if (!key) {
      co_return pass_on(key.error());
    }
    exchange.named_keys.push_back(*key);
    if (!exchange.key) {
      exchange.key = std::move(*key);
    } else if (*key != *exchange.key) {
      exchange.more_keys.push_back(std::move(*key));
    }
  }
  std::ranges::sort(exchange.more_keys);
  const auto last = std::unique(exchange.more_keys.begin(), exchange.more_keys.end());
  exchange.more_keys.erase(last, exchange.more_keys.end());
  co_return Result<void>();
}

}  // namespace fenceline::proxy
