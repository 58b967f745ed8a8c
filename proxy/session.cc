#include "proxy/session.h"

#include <algorithm>
#include <ctime>
#include <exception>
#include <utility>

#include "proxy/linger.h"
#include "proxy/problem.h"

namespace fenceline::proxy {
namespace {

using base::Awaitable;
using base::ErrorKind;
using base::Result;

}  // namespace

Session::Session(std::unique_ptr<Transport> transport,
                 std::shared_ptr<const ListenerOptions> listener, SessionShared& shared,
                 Admission admission)
    : transport_(std::move(transport)),
      listener_(std::move(listener)),
      shared_(shared),
      admission_(admission),
      body_(*transport_, buffer_, listener_->timeouts, listener_->limits),
      watch_(*transport_, shared_.timers) {
  parser_.emplace(listener_->limits.head);
}

Awaitable<void> Session::run() {
  transport_->start_deadline(listener_->timeouts.head);
  const auto secured = co_await transport_->handshake();
  transport_->stop_deadline();
  if (!secured) {
    co_return;
  }
  if (admission_ == Admission::kRefuse) {
    base::Error error;
    error.kind = ErrorKind::kOverloaded;
    error.detail = "Too many connections are open. Send the request again later.";
    co_await refuse(std::move(error));
    co_return;
  }
  bool open = true;
  while (open) {
    open = co_await serve_one();
  }
}

/// One request and its answer. True to go on with the next.
Awaitable<bool> Session::serve_one() {
  auto arrived = co_await receive_head();
  if (!arrived) {
    base::Error error = std::move(arrived).error();
    co_await refuse(std::move(error));
    co_return false;
  }
  if (!*arrived) {
    co_return false;
  }
  request_id_ = shared_.request_ids.next();
  body_.begin(*parser_);
  base::Reply reply;
  std::optional<std::string> bug;
  try {
    const Request request{.head = parser_->head(),
                          .body = body_,
                          .peer = transport_->peer(),
                          .request_id = request_id_.view(),
                          .timers = shared_.timers,
                          .over_tls = transport_->encrypted(),
                          .client = &watch_};
    reply = co_await listener_->handler->handle(request);
  } catch (const std::exception& thrown) {
    bug = thrown.what();
  } catch (...) {
    bug = "not a std::exception";
  }
  watch_.stop();
  if (bug) {
    reply = handler_threw(*bug);
  }
  co_return co_await answer(reply);
}

/// The write may or may not have happened: nobody can tell where the handler was.
base::Reply Session::handler_threw(const std::string& what) {
  broken_ = true;
  shared_.observer.bug(request_id_.view(), what);
  base::Error error;
  error.applied = base::Applied::kUnknown;
  ProblemFacts facts;
  facts.request_id = request_id_.view();
  return problem_reply(error, facts);
}

Awaitable<bool> Session::answer(base::Reply& reply) {
  if (body_.client_gone() || watch_.known_gone()) {
    co_return false;
  }
  const base::RequestHead& head = parser_->head();
  const Rest rest = settle_body();
  ReplyContext context;
  context.method = head.method;
  context.minor_version = head.minor_version;
  context.keep_alive =
      head.keep_alive && rest != Rest::kClose && !broken_ && !retired_ && !shared_.draining;
  context.date = date();

  std::string scratch = shared_.scratch.take();
  ReplyWriter writer(*transport_, reply, context, scratch);
  const auto sent = co_await writer.send();
  const WrittenReply written = writer.finish(sent);
  shared_.scratch.give_back(std::move(scratch));
  finish(written);
  if (!written.complete) {
    co_return false;
  }
  bool keep = written.keep_alive;
  if (keep && rest == Rest::kDrain) {
    keep = co_await body_.drain();
  }
  keep = keep && !retired_;
  if (!keep) {
    const SessionTimeouts& timeouts = listener_->timeouts;
    const base::Milliseconds patience =
        rest == Rest::kNone ? std::min(timeouts.close, timeouts.linger) : timeouts.linger;
    co_await close_after_answer(*transport_, patience, listener_->limits.linger_bytes);
  }
  co_return keep;
}

/// Decides, before the head of the answer is sent, what will become of a body nobody read.
Session::Rest Session::settle_body() {
  const base::RequestHead& head = parser_->head();
  if (head.method == base::Method::kPut && !head.content_length && !head.chunked) {
    return Rest::kClose;  // Whatever comes is more likely the body than the next request.
  }
  body_.skip_buffered();
  if (body_.finished()) {
    return Rest::kNone;
  }
  // After a refusal the body of `Expect` may or may not come, and an unfinished chunked body may
  // be of any size: neither can be waited for.
  const std::optional<std::uint64_t> remaining = body_.remaining_bytes();
  const bool drainable = !body_.failed() && !body_.continue_pending() && remaining &&
                         *remaining <= listener_->limits.drain_bytes;
  return drainable ? Rest::kDrain : Rest::kClose;
}

/// Answers what never became a request and ends the connection.
Awaitable<void> Session::refuse(base::Error error) {
  if (error.kind == ErrorKind::kClientGone || error.kind == ErrorKind::kShuttingDown) {
    co_return;
  }
  started_ = shared_.clock.now();
  base::Reply reply = problem_reply(error);
  ReplyContext context;
  context.keep_alive = false;
  context.date = date();
  std::string scratch = shared_.scratch.take();
  ReplyWriter writer(*transport_, reply, context, scratch);
  const auto sent = co_await writer.send();
  const WrittenReply written = writer.finish(sent);
  shared_.scratch.give_back(std::move(scratch));
  finish(written);
  if (written.complete) {
    co_await close_after_answer(*transport_, listener_->timeouts.linger,
                                listener_->limits.linger_bytes);
  }
}

void Session::drain() {
  if (idle_) {
    transport_->close();
  }
}

void Session::adopt(std::shared_ptr<const ListenerOptions> next) {
  if (idle_) {
    follow(std::move(next));
  } else {
    next_ = std::move(next);
  }
}

void Session::retire() {
  retired_ = true;
  if (!first_) {
    drain();
  }
}

void Session::follow(std::shared_ptr<const ListenerOptions> options) {
  listener_ = std::move(options);
  next_.reset();
  body_.follow(listener_->timeouts, listener_->limits);
  parser_.emplace(listener_->limits.head);
}

void Session::finish(const WrittenReply& written) {
  if (written.replaced) {
    shared_.observer.bug(request_id_.view(), "a reply broke a rule and went out as 500");
  }
  shared_.observer.request_finished({.listener = listener_->name,
                                     .peer = transport_->peer(),
                                     .request_id = request_id_.view(),
                                     .status = written.status,
                                     .duration = shared_.clock.now() - started_,
                                     .complete = written.complete});
}

std::string_view Session::date() { return shared_.date.at(std::time(nullptr)); }

}  // namespace fenceline::proxy
