#include "backends/s3/s3_backend.h"

#include <atomic>
#include <string>
#include <utility>

#include "backends/http/errors.h"
#include "backends/http/held_request.h"
#include "backends/http/upstream_target.h"
#include "backends/s3/bodies.h"
#include "backends/s3/deletions.h"
#include "backends/s3/object_write.h"
#include "backends/s3/place.h"
#include "backends/s3/request_head.h"
#include "backends/s3/revoke.h"
#include "backends/s3/s3_answers.h"
#include "backends/s3/s3_probe.h"
#include "backends/s3/s3_upstream.h"
#include "backends/s3/signing.h"
#include "backends/s3/tombstone.h"
#include "base/clock.h"

namespace fenceline::backends::s3 {
namespace {

using base::Awaitable;
using base::ErrorKind;
using base::Reply;
using base::Result;
using StageResult = Result<std::unique_ptr<StagedWrite>>;

constexpr std::size_t kMaxTombstoneBytes = 4096;

const base::Clock& steady_clock() {
  static const base::SteadyClock clock;
  return clock;
}

Result<void> check_key(const ResourceRequest& request) {
  if (request.s3 == nullptr || request.s3->operation == nullptr) {
    return base::fail(ErrorKind::kInternal, "an S3 route got a request that is no S3 request");
  }
  return check_reserved(request.s3->key);
}

// All or none, as what is one request upstream.
Result<void> check_named_keys(const ResourceRequest& request) {
  for (const Deletion& each : request.s3->named.deletions) {
    if (auto checked = check_reserved(each.key); !checked) {
      return checked;
    }
  }
  return {};
}

Awaitable<Result<Reply>> answer_to_read(SharedS3 upstream, ResourceRequest request,
                                        Result<http::Received> received) {
  if (!received) {
    co_return tl::unexpected<base::Error>(http::without_effect(std::move(received.error())));
  }
  if (shows_tombstone(received->head)) {
    // Gives the connection back; if that fails it is closed, and the answer stands.
    auto content = co_await received->exchange->read_all(kMaxTombstoneBytes);
    co_return tl::unexpected<base::Error>(no_such_key());
  }
  if (may_show_less(upstream->options, request, received->head.status)) {
    auto checked = co_await check_for_tombstone(upstream, request);
    if (!checked) {
      co_return base::pass_on(checked.error());
    }
  }
  const bool to_head = request.head.method == base::Method::kHead;
  auto reply = co_await client_reply(upstream->http, std::move(*received), to_head);
  co_return reply;
}

Awaitable<Result<Reply>> read_upstream(SharedS3 upstream, ResourceRequest request) {
  auto out = head_upstream(upstream->options, request, {});
  if (!out) {
    co_return base::pass_on(out.error());
  }
  sign_upstream(upstream->options, *out, hash_of_nothing());
  auto received = co_await http::send_to(upstream->http, *request.timers, *out, std::nullopt,
                                         http::kNoBody, http::Resend::kIfUnanswered);
  co_return co_await answer_to_read(std::move(upstream), request, std::move(received));
}

Awaitable<Result<Reply>> read_beside_content(SharedS3 upstream, ResourceRequest request) {
  auto checked = co_await check_for_tombstone(upstream, request);
  if (!checked) {
    co_return base::pass_on(checked.error());
  }
  co_return co_await read_upstream(std::move(upstream), request);
}

// A question with a document: it is small, so it is held to be signed.
Awaitable<Result<Reply>> read_with_body(SharedS3 upstream, ResourceRequest request) {
  std::string document;
  BoundedBody body(*request.s3->body, upstream->options.hold_bytes);
  while (true) {
    auto piece = co_await body.read();
    if (!piece) {
      co_return base::pass_on(piece.error());
    }
    if (piece->empty()) {
      break;
    }
    if (document.size() + piece->size() > upstream->options.hold_bytes) {
      co_return base::fail(ErrorKind::kBodyTooLarge, "the document of a read is too long");
    }
    document.append(*piece);
  }
  auto out = head_upstream(upstream->options, request, {});
  if (!out) {
    co_return base::pass_on(out.error());
  }
  const std::string hash = hash_of_held(request, document);
  sign_upstream(upstream->options, *out, hash);
  auto received = co_await http::send_to(upstream->http, *request.timers, *out, document.size(),
                                         document, http::Resend::kIfUnanswered);
  co_return co_await answer_to_read(std::move(upstream), request, std::move(received));
}

class S3Backend final : public Backend {
 public:
  explicit S3Backend(SharedS3 upstream) : upstream_(std::move(upstream)) {}

  [[nodiscard]] Capabilities capabilities() const override {
    const auto standing = upstream_->standing();
    if (standing != nullptr) {
      return standing->capabilities;
    }
    return {.guarantee = Guarantee::kBounded,
            .assumption = upstream_->http->watch->out_of_service().value_or(""),
            .settle_after = upstream_->options.http.settle_after};
  }

  [[nodiscard]] bool is_read(const base::RequestHead& head) const override {
    return head.method == base::Method::kGet || head.method == base::Method::kHead;
  }

  [[nodiscard]] std::string_view allowed_methods() const override {
    return "GET, HEAD, PUT, POST, DELETE";
  }

  Awaitable<Result<Reply>> read(ResourceRequest request) override {
    if (auto checked = check_key(request); !checked) {
      return Awaitable<Result<Reply>>::ready(base::pass_on(checked.error()));
    }
    const bool asks_with_body =
        request.s3->body != nullptr && request.head.method == base::Method::kPost;
    if (reads_beside(upstream_->options, request) && !asks_with_body) {
      return read_beside_content(upstream_, request);
    }
    return asks_with_body ? read_with_body(upstream_, request) : read_upstream(upstream_, request);
  }

  Awaitable<StageResult> stage(ResourceRequest request, base::BodySource& body,
                               base::Stamp stamp) override {
    if (auto checked = check_key(request); !checked) {
      return refuse(std::move(checked.error()));
    }
    auto standing = upstream_->standing();
    if (standing == nullptr) {
      return refuse({.kind = ErrorKind::kUpstreamFailed,
                     .detail = upstream_->http->watch->out_of_service().value_or("") +
                               "; nothing was changed; send the write again later"});
    }
    const bool one_by_one = standing->tombstones && request.s3->operation->keys == Keys::kInBody;
    if (one_by_one) {
      return stage_deletions(upstream_, std::move(standing), request, body, std::move(stamp));
    }
    if (auto checked = check_named_keys(request); !checked) {
      return refuse(std::move(checked.error()));
    }
    return stage_write(upstream_, std::move(standing), request, body, std::move(stamp));
  }

  Awaitable<Result<Revocation>> revoke(std::string_view data, base::TimerWheel& timers) override {
    return revoke_write(upstream_, std::string(data), timers);
  }

  Result<std::optional<base::Stamp>> find_stamp(std::string_view /*name*/) override {
    return std::nullopt;  // It is with the object, but only a request can see it.
  }
  [[nodiscard]] bool shows_stamps() const override { return false; }

  Awaitable<Result<LastWrite>> last_write(ResourceRequest request) override {
    if (request.s3->key.empty()) {
      return Awaitable<Result<LastWrite>>::ready(LastWrite{.exists = true});
    }
    return last_write_of(upstream_, request);
  }

  [[nodiscard]] std::optional<std::string> out_of_service() const override {
    return upstream_->http->watch->out_of_service();
  }

 private:
  static Awaitable<Result<LastWrite>> last_write_of(SharedS3 upstream, ResourceRequest request) {
    auto state = co_await look_at(std::move(upstream), request);
    if (!state) {
      co_return tl::unexpected<base::Error>(std::move(state.error()));
    }
    co_return LastWrite{.exists = state->exists, .request_id = std::move(state->request_id)};
  }

  static Awaitable<StageResult> refuse(base::Error error) {
    return Awaitable<StageResult>::ready(tl::unexpected<base::Error>(std::move(error)));
  }

  SharedS3 upstream_;
};

std::unique_ptr<http::UpstreamWatch> watch_of(const S3Options& options) {
  const auto find = [options](const std::atomic<bool>& stop) -> Result<http::UpstreamWatch::Found> {
    auto verdict = run_probe(options, stop);
    if (!verdict) {
      return base::pass_on(verdict.error());
    }
    return http::UpstreamWatch::Found{
        .server = verdict->server,
        .standing = std::make_shared<const S3Standing>(standing_of(options, *verdict))};
  };
  std::shared_ptr<const S3Standing> unprobed;
  if (!needs_probe(options)) {
    unprobed = std::make_shared<const S3Standing>(standing_of(options, std::nullopt));
  }
  return std::make_unique<http::UpstreamWatch>(options.http, std::move(unprobed), find,
                                               steady_clock());
}

}  // namespace

Result<std::unique_ptr<Backend>> open_s3_backend(S3Options options) {
  auto client = base::net::make_http_client(options.http.client);
  if (!client) {
    return base::pass_on(client.error());
  }
  auto connections = std::make_shared<http::Upstream>();
  connections->options = options.http;
  connections->origin = http::origin_of(options.http.client);
  connections->client = std::move(*client);
  connections->watch = watch_of(options);
  auto upstream = std::make_shared<S3Upstream>();
  upstream->options = std::move(options);
  upstream->http = std::move(connections);
  return std::make_unique<S3Backend>(std::move(upstream));
}

}  // namespace fenceline::backends::s3
