#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fence_key.h"
#include "base/once.h"
#include "base/token.h"
#include "config/pattern.h"
#include "proxy/handler.h"
#include "proxy/printed_body.h"
#include "proxy/route.h"
#include "proxy/s3_exchange.h"
#include "proxy/target.h"

namespace fenceline::proxy {

/// A write with an idempotency key.
struct RepeatableWrite {
  RepeatableWrite(base::Once which, base::BodySource& from) : once(std::move(which)), body(from) {}

  base::Once once;   ///< The print is there when the body has been read.
  PrintedBody body;  ///< What the backend reads.
  /// The answer is not that of an effect of this request: nothing was committed.
  bool nothing_done = false;
};

/// One request and what the pipeline has found out about it so far.
struct Exchange {
  explicit Exchange(Request from) : request(from) {}

  Request request;
  const Route* route = nullptr;  ///< Null: no route takes the path.
  Target target;                 ///< The decoded path.
  config::Captures captures;     ///< Holds the canonical resource name.
  bool is_read = false;
  std::optional<base::FenceKey> key;      ///< Empty on a route without a fence.
  std::vector<base::FenceKey> more_keys;  ///< Of a request that names several: all but `key`.
  /// The key of each resource that such a request names, in its order.
  std::vector<base::FenceKey> named_keys;
  /// Nobody sees what it does until a later request (S3 UploadPart), which the fence is asked for.
  bool only_stages = false;
  base::Token token;  ///< No token if the request carries none.
  std::string holder;
  base::Token mark_at_leave;       ///< The mark when its permit was settled; no token: it had none.
  std::unique_ptr<S3Exchange> s3;  ///< Only on an S3 route.
  std::unique_ptr<RepeatableWrite> once;  ///< Only for a write with an idempotency key.

  /// True if the answer to this write came from what is kept, not from its commit.
  [[nodiscard]] bool answered_from_memory() const { return once != nullptr && once->nothing_done; }

  /// True if this request goes through the gate: it carries a token on a fenced route.
  [[nodiscard]] bool claims() const { return token.exists() && key.has_value(); }

  /// What the backend keeps with the write. Without a key where the route only observes: a store
  /// that keeps marks itself must let pass then, too.
  [[nodiscard]] base::Stamp stamp() const {
    const bool fenced = key.has_value() && route->enforce;
    return {fenced ? key->text() : std::string(), token, std::string(request.request_id)};
  }

  [[nodiscard]] backends::ResourceRequest resource() const {
    return {
        .head = request.head,
        .name = captures.resource_name,
        .names_directory = target.segments.trailing_slash(),
        .part_names = route->pattern.capture_names(),
        .part_values = {captures.values.data(), captures.values.size()},
        .body = is_read && may_have_body() ? &body() : nullptr,
        .peer = request.peer,
        .over_tls = request.over_tls,
        .fence_covers_below = !route->fenced() || !route->enforce || route->fence.covers_below(),
        .timers = &request.timers,
        .s3 = s3 == nullptr ? nullptr : &s3->request};
  }

  /// The content, as the client means it.
  [[nodiscard]] base::BodySource& body() const {
    return once == nullptr ? plain_body() : once->body;
  }

  [[nodiscard]] base::BodySource& plain_body() const {
    return s3 == nullptr || s3->body == nullptr ? request.body : *s3->body;
  }

  /// False for a GET or HEAD that declares no body.
  [[nodiscard]] bool may_have_body() const {
    const base::RequestHead& head = request.head;
    const bool plain = head.method == base::Method::kGet || head.method == base::Method::kHead;
    return !plain || head.content_length.has_value() || head.chunked;
  }
};

}  // namespace fenceline::proxy
