#include "backends/http/answers.h"

#include <string>
#include <utility>

#include "backends/http/errors.h"
#include "backends/http/forwarded_fields.h"

namespace fenceline::backends::http {
namespace {

using base::Awaitable;
using base::Reply;
using base::Result;
using base::net::HttpExchange;

constexpr int kNoContent = 204;
constexpr int kNotModified = 304;
constexpr std::size_t kMaxRefusalBytes = 256UL * 1024;

/// A body of the upstream; keeps what its connection needs.
class UpstreamBody final : public base::BodySource {
 public:
  UpstreamBody(SharedUpstream upstream, std::unique_ptr<base::BodySource> body)
      : upstream_(std::move(upstream)), body_(std::move(body)) {}

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override {
    return body_->declared_bytes();
  }
  Awaitable<Result<std::string_view>> read() override { return body_->read(); }
  void limit_idle(base::Milliseconds limit) override { body_->limit_idle(limit); }

 private:
  SharedUpstream upstream_;
  std::unique_ptr<base::BodySource> body_;
};

class RefusedWrite final : public StagedWrite {
 public:
  explicit RefusedWrite(Reply reply) : reply_(std::move(reply)) {}

  Awaitable<Result<Reply>> commit() override {
    return Awaitable<Result<Reply>>::ready(std::move(reply_));
  }

 private:
  Reply reply_;
};

bool has_no_body(int status, bool to_head) {
  return to_head || status == kNoContent || status == kNotModified;
}

}  // namespace

Awaitable<Reply> reply_from(SharedUpstream upstream, Received received, bool to_head) {
  Reply reply;
  reply.status = received.head.status;
  fields_downstream(upstream->options, received.head.fields, reply.fields);
  if (!has_no_body(reply.status, to_head)) {
    reply.body = std::make_unique<UpstreamBody>(
        std::move(upstream), HttpExchange::body_of(std::move(received.exchange)));
    co_return reply;
  }
  if (to_head || reply.status == kNotModified) {
    reply.head_length_bytes = received.head.content_length;
  }
  // Gives the connection back; if that fails it is closed, and the answer stands.
  auto nothing = co_await received.exchange->read_all(0);
  co_return reply;
}

Awaitable<Reply> short_reply_from(SharedUpstream upstream, Received received) {
  Reply reply;
  reply.status = received.head.status;
  fields_downstream(upstream->options, received.head.fields, reply.fields);
  auto body = co_await received.exchange->read_all(kMaxRefusalBytes);
  // The status stands, also if the words that explain it broke off.
  if (body && !body->empty()) {
    reply.body = std::move(*body);
  }
  co_return reply;
}

Awaitable<Result<Reply>> outcome_of(SharedUpstream upstream, Received received) {
  const int status = received.head.status;
  if (meaning_of(status, received.complete) == Meaning::kInDoubt) {
    co_return tl::unexpected<base::Error>(in_doubt(status, received.complete));
  }
  if (!received.complete) {
    auto refusal = co_await short_reply_from(std::move(upstream), std::move(received));
    co_return refusal;
  }
  auto reply = co_await reply_from(std::move(upstream), std::move(received), false);
  co_return reply;
}

std::unique_ptr<StagedWrite> refused_write(Reply reply) {
  return std::make_unique<RefusedWrite>(std::move(reply));
}

Awaitable<Result<std::unique_ptr<StagedWrite>>> refused_early(SharedUpstream upstream,
                                                              Received received) {
  if (meaning_of(received.head.status, received.complete) == Meaning::kInDoubt) {
    co_return tl::unexpected<base::Error>(in_doubt(received.head.status, received.complete));
  }
  auto reply = co_await short_reply_from(std::move(upstream), std::move(received));
  co_return refused_write(std::move(reply));
}

}  // namespace fenceline::backends::http
