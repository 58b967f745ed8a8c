#include "backends/http/held_request.h"

#include <algorithm>
#include <utility>

namespace fenceline::backends::http {

using base::Awaitable;
using base::Result;
using Early = std::optional<Received>;

bool declares_empty_body(const base::RequestHead& head) {
  using enum base::Method;
  return head.method == kPut || head.method == kPost || head.method == kPatch ||
         head.content_length.has_value() || head.chunked;
}

Awaitable<Result<Early>> HeldRequest::take(base::BodySource& body, std::size_t whole_bytes) {
  declared_ = body.declared_bytes();
  const bool keep = !declared_ || *declared_ <= whole_bytes;
  while (true) {
    auto piece = co_await body.read();
    if (!piece) {
      co_return base::pass_on(piece.error());
    }
    if (piece->empty()) {
      break;
    }
    if (!streams_ && keep && held_.size() + piece->size() <= whole_bytes) {
      held_.append(*piece);
      continue;
    }
    const bool begins = !streams_;
    if (!begins && exchange_->answered()) {
      co_return co_await early_answer();
    }
    auto sent = begins ? begin(*piece) : pass(*piece);
    auto done = co_await std::move(sent);
    if (!done) {
      co_return tl::unexpected<base::Error>(std::move(done.error()));
    }
  }
  if (streams_ && declared_ && seen_bytes_ != *declared_) {
    co_return base::fail(base::ErrorKind::kInternal, "a body did not keep to its length");
  }
  co_return std::nullopt;
}

// Opens the connection with what has come so far.
Awaitable<Result<void>> HeldRequest::begin(std::string_view piece) {
  const base::net::OutgoingHead head{.method = out_.method,
                                     .target = out_.target,
                                     .fields = &out_.fields,
                                     .content_length = declared_,
                                     .chunked = !declared_};
  const std::string before = std::exchange(held_, std::string());
  seen_bytes_ = before.size();
  streams_ = true;
  auto sent = co_await open_and_send(head, before, false);
  // An idle connection may have gone stale; nothing is lost where nothing has left.
  if (!sent && exchange_ != nullptr && exchange_->reused() && exchange_->unsent()) {
    sent = co_await open_and_send(head, before, true);
  }
  if (!sent) {
    co_return sent;
  }
  co_return co_await pass(piece);
}

Awaitable<Result<void>> HeldRequest::open_and_send(const base::net::OutgoingHead& head,
                                                   std::string_view body, bool fresh) {
  auto opened = co_await upstream_->client->open(timers_, fresh);
  if (!opened) {
    upstream_->watch->failed(opened.error());
    co_return base::pass_on(opened.error());
  }
  exchange_ = std::move(*opened);
  co_return co_await exchange_->send_head(head, body, false);
}

Awaitable<Result<void>> HeldRequest::pass(std::string_view piece) {
  const std::string_view now = hold_end(piece);
  return now.empty() ? Awaitable<Result<void>>::ready({}) : exchange_->send_body(now, false);
}

// What of the piece may go out: all, or all but the last bytes of the body.
std::string_view HeldRequest::hold_end(std::string_view piece) {
  const std::uint64_t before = seen_bytes_;
  seen_bytes_ += piece.size();
  if (!declared_) {
    return piece;
  }
  const std::uint64_t may_leave = *declared_ - end_bytes_;
  const std::uint64_t now = may_leave - std::min(may_leave, before);
  const std::string_view passed = piece.substr(0, now);
  held_.append(piece.substr(passed.size()));
  return passed;
}

Awaitable<Result<Early>> HeldRequest::early_answer() {
  auto head = co_await exchange_->receive_head();
  if (!head) {
    upstream_->watch->failed(head.error());
    co_return base::pass_on(head.error());
  }
  Received received{.exchange = std::move(exchange_), .head = std::move(*head), .complete = false};
  co_return std::move(received);
}

Awaitable<Result<Received>> HeldRequest::complete(Resend resend) {
  if (is_whole()) {
    const bool has_body = !held_.empty() || declares_empty_;
    const std::optional<std::uint64_t> length =
        has_body ? std::optional<std::uint64_t>(held_.size()) : std::nullopt;
    return send_to(upstream_, timers_, out_, length, held_, resend);
  }
  return complete_stream();
}

// Sends what was held back of a body that has been sent while it arrived.
Awaitable<Result<Received>> HeldRequest::complete_stream() {
  if (exchange_->answered()) {
    auto early = co_await early_answer();
    if (!early) {
      co_return base::pass_on(early.error());
    }
    co_return std::move(**early);
  }
  auto sent = co_await exchange_->send_body(held_, true);
  if (!sent) {
    co_return base::pass_on(sent.error());
  }
  const bool complete = !exchange_->answered();
  auto head = co_await exchange_->receive_head();
  if (!head) {
    upstream_->watch->failed(head.error());
    co_return base::pass_on(head.error());
  }
  upstream_->watch->answered(value_of(*head, "Server"));
  co_return Received{
      .exchange = std::move(exchange_), .head = std::move(*head), .complete = complete};
}

}  // namespace fenceline::backends::http
