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

Awaitable<Reply> wait_for_end(Reply reply, std::unique_ptr<HttpExchange> exchange) {
  // Gives the connection back; if that fails it is closed, and the answer stands.
  auto nothing = co_await exchange->read_all(0);
  co_return reply;
}

Awaitable<Result<Reply>> as_result(Awaitable<Reply> reply) {
  auto value = co_await std::move(reply);
  co_return value;
}

}  // namespace

Awaitable<Reply> reply_from(SharedUpstream upstream, Received received, bool to_head) {
  Reply reply;
  reply.status = received.head.status;
  fields_downstream(upstream->options, received.head.fields, reply.fields);
  if (!has_no_body(reply.status, to_head)) {
    reply.body = HttpExchange::body_of(std::move(received.exchange), std::move(upstream));
    return Awaitable<Reply>::ready(std::move(reply));
  }
  if (to_head || reply.status == kNotModified) {
    reply.head_length_bytes = received.head.content_length;
  }
  return received.exchange->finished()
             ? Awaitable<Reply>::ready(std::move(reply))
             : wait_for_end(std::move(reply), std::move(received.exchange));
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
  using Outcome = Awaitable<Result<Reply>>;
  const int status = received.head.status;
  const bool complete = received.complete;
  if (meaning_of(status, complete) == Meaning::kInDoubt) {
    return Outcome::ready(tl::unexpected<base::Error>(in_doubt(status, complete)));
  }
  auto reply = complete ? reply_from(std::move(upstream), std::move(received), false)
                        : short_reply_from(std::move(upstream), std::move(received));
  return reply.is_ready() ? Outcome::ready(reply.take()) : as_result(std::move(reply));
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
