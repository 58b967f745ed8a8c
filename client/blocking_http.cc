#include "client/blocking_http.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <exception>

#include "base/async.h"
#include "base/awaitable.h"
#include "base/field_lines.h"
#include "base/field_syntax.h"
#include "base/spawn.h"
#include "base/timer_wheel.h"

namespace fenceline::client {
namespace {

using base::Applied;
using base::Awaitable;
using base::Error;
using base::ErrorKind;
using base::Milliseconds;
using base::Result;
using std::chrono::steady_clock;

constexpr std::size_t kMaxAnswerBytes = 4UL << 20U;
/// How late a deadline or a stop may be noticed.
constexpr Milliseconds kTick{20};

/// One call on its way. The coroutine may be destroyed at any wait, so what is known about it so
/// far stands here.
struct Progress {
  bool ended = false;
  bool may_be_complete = false;  ///< The request may have reached the server as a whole.
  Result<HttpAnswer> answer = HttpAnswer();
  std::exception_ptr thrown;
};

/// What a call needs and an abandoned call takes down with it. The order of destruction: what waits
/// (in the context), then the connections' owner, then the timers.
struct Loop {
  explicit Loop(std::shared_ptr<base::net::HttpClient> connections)
      : wheel(kTick, steady_clock::now()), client(std::move(connections)) {}

  base::TimerWheel wheel;
  std::shared_ptr<base::net::HttpClient> client;
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<base::Executor> work{context.get_executor()};
};

struct Sent {
  std::unique_ptr<base::net::HttpExchange> exchange;
  Result<base::net::ResponseHead> head;
};

Awaitable<Result<Sent>> send(base::net::HttpClient& client, base::TimerWheel& timers,
                             const HttpCall& call, const base::FieldLines& fields, bool fresh,
                             Progress& progress) {
  auto opened = co_await client.open(timers, fresh);
  if (!opened) {
    co_return base::pass_on(opened.error());
  }
  Sent sent{std::move(*opened), base::net::ResponseHead()};
  base::net::OutgoingHead head;
  head.method = call.method;
  head.target = call.target;
  head.fields = &fields;
  if (call.body) {
    head.content_length = call.body->size();
  }
  progress.may_be_complete = true;
  const std::string_view body = call.body ? std::string_view(*call.body) : std::string_view();
  auto done = co_await sent.exchange->send_head(head, body, true);
  if (done) {
    sent.head = co_await sent.exchange->receive_head();
  } else {
    sent.head = base::pass_on(done.error());
  }
  co_return sent;
}

Awaitable<Result<HttpAnswer>> answer_to(base::net::HttpClient& client, base::TimerWheel& timers,
                                        const HttpCall& call, const base::FieldLines& fields,
                                        Progress& progress) {
  auto sent = co_await send(client, timers, call, fields, false, progress);
  if (sent && !sent->head && sent->exchange->reused() && sent->exchange->unsent()) {
    sent->exchange.reset();
    progress.may_be_complete = false;
    sent = co_await send(client, timers, call, fields, true, progress);
  }
  if (!sent) {
    co_return base::pass_on(sent.error());
  }
  if (!sent->head) {
    co_return base::pass_on(sent->head.error());
  }
  HttpAnswer answer;
  answer.status = sent->head->status;
  for (const base::Field& field : sent->head->fields) {
    answer.fields.emplace_back(field.name, field.value);
  }
  if (!sent->exchange->finished()) {
    auto body = co_await sent->exchange->read_all(kMaxAnswerBytes);
    if (!body) {
      body.error().applied = Applied::kUnknown;
      co_return base::pass_on(body.error());
    }
    answer.body = std::move(*body);
  }
  co_return answer;
}

Awaitable<void> keep_answer(base::net::HttpClient& client, base::TimerWheel& timers,
                            const HttpCall& call, const base::FieldLines& fields,
                            Progress& progress) {
  auto answer = co_await answer_to(client, timers, call, fields, progress);
  progress.answer = std::move(answer);
}

class RealBlockingHttp final : public BlockingHttp {
 public:
  RealBlockingHttp(base::net::HttpClientOptions options,
                   std::shared_ptr<base::net::HttpClient> client)
      : options_(std::move(options)), client_(std::move(client)) {}

  Result<HttpAnswer> ask(const HttpCall& call, std::stop_token stop) override;

 private:
  [[nodiscard]] base::FieldLines fields_of(const HttpCall& call) const;
  [[nodiscard]] std::string address() const;

  const base::net::HttpClientOptions options_;
  const std::shared_ptr<base::net::HttpClient> client_;
  std::unique_ptr<Loop> loop_;
};

std::string RealBlockingHttp::address() const {
  const bool is_v6 = options_.host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", options_.host, options_.port)
               : fmt::format("{}:{}", options_.host, options_.port);
}

base::FieldLines RealBlockingHttp::fields_of(const HttpCall& call) const {
  base::FieldLines fields;
  fields.add("Host", address());
  for (const auto& [name, value] : call.fields) {
    fields.add_named(name, value);
  }
  return fields;
}

Result<HttpAnswer> RealBlockingHttp::ask(const HttpCall& call, std::stop_token stop) {
  const base::FieldLines fields = fields_of(call);
  if (!fields.valid()) {
    return base::fail(
        ErrorKind::kMalformedRequest,
        fmt::format("A field of the request to {} has a control character.", address()));
  }
  if (!loop_) {
    loop_ = std::make_unique<Loop>(client_);
  }
  // Nobody has turned the wheel since the last call: what is armed now must not count from then.
  loop_->wheel.advance(steady_clock::now());
  const steady_clock::time_point end = steady_clock::now() + call.deadline;
  Progress progress;
  base::spawn(loop_->context, keep_answer(*loop_->client, loop_->wheel, call, fields, progress),
              [&progress](std::exception_ptr thrown) {
                progress.thrown = std::move(thrown);
                progress.ended = true;
              });
  while (!progress.ended) {
    const auto now = steady_clock::now();
    if (stop.stop_requested() || now >= end) {
      // With the loop goes the coroutine, which refers to this frame, and its connection.
      loop_.reset();
      const Applied applied = progress.may_be_complete ? Applied::kUnknown : Applied::kNo;
      return stop.stop_requested()
                 ? base::fail(ErrorKind::kClientGone, "The request was stopped.", applied)
                 : base::fail(ErrorKind::kUpstreamTimeout,
                              fmt::format("{} did not answer within {} ms.", address(),
                                          call.deadline.count()),
                              applied);
    }
    loop_->context.run_one_for(std::min<steady_clock::duration>(kTick, end - now));
    loop_->wheel.advance(steady_clock::now());
  }
  if (progress.thrown) {
    loop_.reset();
    std::rethrow_exception(progress.thrown);
  }
  return std::move(progress.answer);
}

}  // namespace

std::string_view HttpAnswer::field(std::string_view name) const {
  const auto found = std::ranges::find_if(
      fields, [&](const auto& each) { return base::equal_names(each.first, name); });
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

Result<std::unique_ptr<BlockingHttp>> make_blocking_http(base::net::HttpClientOptions options) {
  auto client = base::net::make_http_client(options);
  if (!client) {
    return base::pass_on(client.error());
  }
  return std::make_unique<RealBlockingHttp>(std::move(options), std::move(*client));
}

}  // namespace fenceline::client
