#include "backends/http/send.h"

#include <utility>

#include "backends/http/upstream_watch.h"
#include "base/field_syntax.h"

namespace fenceline::backends::http {
namespace {

using base::Awaitable;
using base::Result;
using base::net::HttpClient;
using base::net::HttpExchange;

constexpr std::size_t kMaxAnswerBytes = 256UL * 1024;

bool may_repeat(HttpExchange& exchange, const base::Error& error, Resend resend) {
  if (!exchange.reused() || error.kind != base::ErrorKind::kUpstreamFailed) {
    return false;
  }
  return exchange.unsent() || resend == Resend::kIfUnanswered;
}

void tell_failed(const std::shared_ptr<UpstreamWatch>& watch, const base::Error& error) {
  if (watch != nullptr) {
    watch->failed(error);
  }
}

}  // namespace

Awaitable<Result<Received>> send_whole(HttpClient& client, base::TimerWheel& timers,
                                       const Outgoing& out, std::optional<std::uint64_t> body_bytes,
                                       std::string_view body, Resend resend,
                                       std::shared_ptr<UpstreamWatch> watch) {
  const base::net::OutgoingHead head{.method = out.method,
                                     .target = out.target,
                                     .fields = &out.fields,
                                     .content_length = body_bytes,
                                     .chunked = false};
  bool fresh = false;
  while (true) {
    auto opened = co_await client.open(timers, fresh);
    if (!opened) {
      tell_failed(watch, opened.error());
      co_return base::pass_on(opened.error());
    }
    Received received;
    received.exchange = std::move(*opened);
    Result<base::net::ResponseHead> answer = base::net::ResponseHead();
    auto sent = co_await received.exchange->send_head(head, body, true);
    if (sent) {
      answer = co_await received.exchange->receive_head();
    } else {
      answer = base::pass_on(sent.error());
    }
    if (answer) {
      received.head = std::move(*answer);
      if (watch != nullptr) {
        watch->answered(value_of(received.head, "Server"));
      }
      co_return std::move(received);
    }
    if (fresh || !may_repeat(*received.exchange, answer.error(), resend)) {
      tell_failed(watch, answer.error());
      co_return base::pass_on(answer.error());
    }
    fresh = true;
  }
}

Awaitable<Result<Answered>> ask(HttpClient& client, base::TimerWheel& timers, Outgoing out,
                                std::string body, bool has_body, Resend resend) {
  const std::optional<std::uint64_t> length =
      has_body ? std::optional<std::uint64_t>(body.size()) : std::nullopt;
  auto received = co_await send_whole(client, timers, out, length, body, resend);
  if (!received) {
    co_return base::pass_on(received.error());
  }
  Answered answered;
  answered.status = received->head.status;
  answered.etag = value_of(received->head, "ETag");
  answered.server = value_of(received->head, "Server");
  answered.last_modified = value_of(received->head, "Last-Modified");
  answered.content_encoding = value_of(received->head, "Content-Encoding");
  auto content = co_await received->exchange->read_all(kMaxAnswerBytes);
  // What the status says stands, also if the words that come with it broke off.
  if (!content && answered.succeeded()) {
    co_return base::pass_on(content.error());
  }
  if (content) {
    answered.body = std::move(*content);
  }
  co_return answered;
}

std::string_view value_of(const base::net::ResponseHead& head, std::string_view name) {
  for (const base::Field& field : head.fields) {
    if (base::equal_names(field.name, name)) {
      return base::trim_blanks(field.value);
    }
  }
  return {};
}

}  // namespace fenceline::backends::http
