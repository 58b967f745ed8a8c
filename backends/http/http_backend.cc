#include "backends/http/http_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <utility>

#include "backends/http/answers.h"
#include "backends/http/conditional_write.h"
#include "backends/http/errors.h"
#include "backends/http/forwarded_fields.h"
#include "backends/http/held_request.h"
#include "backends/http/move_write.h"
#include "backends/http/plain_write.h"
#include "backends/http/probe.h"
#include "backends/http/revoke.h"
#include "backends/http/upstream.h"
#include "backends/http/upstream_target.h"
#include "base/clock.h"

namespace fenceline::backends::http {
namespace {

using base::Awaitable;
using base::ErrorKind;
using base::Method;
using base::Reply;
using base::Result;
using StageResult = Result<std::unique_ptr<StagedWrite>>;

constexpr std::size_t kMaxTargetBytes = 1'700;  // So that an intent stays below 2 KiB.

const base::Clock& steady_clock() {
  static const base::SteadyClock clock;
  return clock;
}

// These touch a second resource, which the fence of the first does not cover, or are no requests
// for a resource at all.
bool is_refused(std::string_view method) {
  constexpr std::array<std::string_view, 7> kRefused = {"COPY",   "MOVE",    "BIND", "UNBIND",
                                                        "REBIND", "CONNECT", "TRACE"};
  return std::ranges::find(kRefused, method) != kRefused.end();
}

Result<void> check_name(const ResourceRequest& request) {
  if (is_reserved_name(request.name)) {
    return base::fail(ErrorKind::kForbiddenName,
                      fmt::format("names that begin with \"{}\" are the proxy's own; use another",
                                  kReservedPrefix));
  }
  return {};
}

// A collection goes with all that is in it (RFC 4918, 9.6.1). One that is named without its slash
// is found by the upstream, which is told `Depth: 0`.
Result<void> check_removal(const ResourceRequest& request) {
  const bool names_collection = request.names_directory || request.name.empty();
  if (request.head.method != Method::kDelete || !names_collection || request.fence_covers_below) {
    return {};
  }
  return base::fail(ErrorKind::kNameConflict,
                    "the path names a collection, and the fence of this request does not cover "
                    "what is in it; delete its members one by one, or give the route a fence above "
                    "them, as exports/{tenant} for /exports/{tenant}/{path...}");
}

// What cannot be written as a whole under one name.
Result<void> check_whole(const ResourceRequest& request) {
  if (request.names_directory || request.name.empty()) {
    return base::fail(ErrorKind::kMalformedRequest,
                      "the path ends in a slash, which names a collection; name a resource in it");
  }
  if (request.head.count("Content-Range") > 0) {
    return base::fail(ErrorKind::kMalformedRequest,
                      "Content-Range on a PUT would replace the whole by a part; send the whole "
                      "content without it");
  }
  return {};
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) {
    all.append(all.empty() ? "" : ", ").append(word);
  }
  return all;
}

class HttpBackend final : public Backend {
 public:
  explicit HttpBackend(SharedUpstream upstream)
      : upstream_(std::move(upstream)), allowed_(joined(upstream_->options.methods)) {}

  [[nodiscard]] Capabilities capabilities() const override {
    const auto standing = upstream_->watch->standing();
    if (standing != nullptr) {
      return standing->capabilities;
    }
    return {.guarantee = Guarantee::kBounded,
            .assumption = upstream_->watch->out_of_service().value_or(""),
            .settle_after = upstream_->options.settle_after};
  }

  [[nodiscard]] bool is_read(const base::RequestHead& head) const override {
    const auto& reads = upstream_->options.reads;
    return std::ranges::find(reads, head.method_text) != reads.end();
  }

  [[nodiscard]] std::string_view allowed_methods() const override { return allowed_; }

  Awaitable<Result<Reply>> read(ResourceRequest request) override {
    auto checked = check_name(request);
    if (!checked || is_refused(request.head.method_text)) {
      return Awaitable<Result<Reply>>::ready(
          checked ? base::fail(ErrorKind::kMethodNotAllowed, "use one of " + allowed_)
                  : base::pass_on(checked.error()));
    }
    return read_upstream(upstream_, request);
  }

  Awaitable<Result<Revocation>> revoke(std::string_view data, base::TimerWheel& timers) override {
    return revoke_write(upstream_, std::string(data), timers);
  }

  Awaitable<StageResult> stage(ResourceRequest request, base::BodySource& body,
                               base::Stamp stamp) override {
    if (auto checked = check_name(request); !checked) {
      return refuse(std::move(checked.error()));
    }
    if (is_refused(request.head.method_text)) {
      return refuse({.kind = ErrorKind::kMethodNotAllowed, .detail = "use one of " + allowed_});
    }
    if (auto checked = check_removal(request); !checked) {
      return refuse(std::move(checked.error()));
    }
    const auto standing = upstream_->watch->standing();
    if (standing == nullptr) {
      return refuse({.kind = ErrorKind::kUpstreamFailed,
                     .detail = upstream_->watch->out_of_service().value_or("") +
                               "; nothing was changed; send the write again later"});
    }
    return stage_by(*standing, request, body, stamp.token);
  }

  Result<std::optional<base::Stamp>> find_stamp(std::string_view /*name*/) override {
    return std::nullopt;  // An upstream keeps none.
  }
  [[nodiscard]] bool shows_stamps() const override { return false; }

  [[nodiscard]] std::optional<std::string> out_of_service() const override {
    return upstream_->watch->out_of_service();
  }

 private:
  static Awaitable<StageResult> refuse(base::Error error) {
    return Awaitable<StageResult>::ready(tl::unexpected<base::Error>(std::move(error)));
  }

  Awaitable<StageResult> stage_by(const Standing& standing, ResourceRequest request,
                                  base::BodySource& body, base::Token token) {
    const Method method = request.head.method;
    const CommitMode mode = method == Method::kPut      ? standing.put
                            : method == Method::kDelete ? standing.removal
                                                        : CommitMode::kPlain;
    if (mode == CommitMode::kPlain) {
      return stage_plain(upstream_, request, body);
    }
    if (auto checked = check_whole(request); !checked && method == Method::kPut) {
      return refuse(std::move(checked.error()));
    }
    const std::size_t target_bytes = target_of(upstream_->options.base_path, request.name,
                                               request.names_directory, request.head.query)
                                         .size();
    if (target_bytes > kMaxTargetBytes) {
      return refuse({.kind = ErrorKind::kTargetTooLong,
                     .detail = fmt::format("the name takes {} bytes at the upstream; writes take "
                                           "at most {}",
                                           target_bytes, kMaxTargetBytes)});
    }
    return mode == CommitMode::kMove
               ? stage_move(upstream_, request, body, token)
               : stage_conditional(upstream_, request, body, standing.conditions);
  }

  static Awaitable<Result<Reply>> read_upstream(SharedUpstream upstream, ResourceRequest request) {
    auto fields = fields_upstream(upstream->options, request);
    if (!fields) {
      co_return base::pass_on(fields.error());
    }
    Outgoing out{.method = std::string(request.head.method_text),
                 .target = target_of(upstream->options.base_path, request.name,
                                     request.names_directory, request.head.query),
                 .fields = std::move(*fields)};
    const bool to_head = request.head.method == Method::kHead;
    if (request.body != nullptr) {
      co_return co_await read_with_body(upstream, request, std::move(out), to_head);
    }
    auto received = co_await send_to(upstream, *request.timers, out, std::nullopt, kNoBody,
                                     Resend::kIfUnanswered);
    if (!received) {
      co_return tl::unexpected<base::Error>(without_effect(std::move(received.error())));
    }
    auto reply = co_await reply_from(std::move(upstream), std::move(*received), to_head);
    co_return reply;
  }

  // PROPFIND, SEARCH and the like: nothing to hold back, but small bodies go in one send.
  static Awaitable<Result<Reply>> read_with_body(SharedUpstream upstream, ResourceRequest request,
                                                 Outgoing out, bool to_head) {
    HeldRequest held(upstream, *request.timers, std::move(out));
    held.declare_empty_body(declares_empty_body(request.head));
    auto early = co_await held.take(*request.body, kSmallBodyBytes);
    if (!early) {
      co_return base::pass_on(early.error());
    }
    if (*early) {
      auto reply = co_await reply_from(upstream, std::move(**early), to_head);
      co_return reply;
    }
    auto received = co_await held.complete();
    if (!received) {
      co_return tl::unexpected<base::Error>(without_effect(std::move(received.error())));
    }
    auto reply = co_await reply_from(upstream, std::move(*received), to_head);
    co_return reply;
  }

  SharedUpstream upstream_;
  const std::string allowed_;
};

}  // namespace

Result<std::unique_ptr<Backend>> open_http_backend(HttpOptions options) {
  auto client = base::net::make_http_client(options.client);
  if (!client) {
    return base::pass_on(client.error());
  }
  auto upstream = std::make_shared<Upstream>();
  upstream->options = std::move(options);
  upstream->origin = origin_of(upstream->options.client);
  upstream->client = std::move(*client);
  const auto probe = [options = upstream->options](const std::atomic<bool>& stop) {
    return run_probe(options, stop);
  };
  upstream->watch = std::make_unique<UpstreamWatch>(upstream->options, probe, steady_clock());
  return std::make_unique<HttpBackend>(std::move(upstream));
}

}  // namespace fenceline::backends::http
