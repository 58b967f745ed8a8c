#include "backends/http/probe_calls.h"

#include <utility>

#include "backends/http/forwarded_fields.h"
#include "backends/http/upstream_target.h"

namespace fenceline::backends::http {

using base::Awaitable;
using base::FieldLines;

namespace {

// A server may close an idle connection at any moment. What has no condition may be sent twice
// here.
Resend resend_of(std::string_view condition) {
  return condition.empty() ? Resend::kIfUnanswered : Resend::kIfUnsent;
}

FieldLines with(FieldLines fields, std::string_view name, std::string_view value) {
  if (!name.empty()) {
    fields.add_named(name, value);
  }
  return fields;
}

}  // namespace

ProbeCalls::ProbeCalls(base::net::HttpClient& client, base::TimerWheel& timers,
                       const HttpOptions& options)
    : client_(client), timers_(timers), options_(options) {}

std::string ProbeCalls::fresh() {
  std::string name(kReservedPrefix);
  name.append("probe-").append(names_.next().view());
  targets_.push_back(target_of(options_.base_path, name, false, {}));
  return targets_.back();
}

Awaitable<Answered> ProbeCalls::put(std::string target, std::string content, std::string condition,
                                    std::string value) {
  return call("PUT", std::move(target), with(own_request_fields(options_), condition, value),
              std::move(content), resend_of(condition));
}

Awaitable<Answered> ProbeCalls::get(std::string target) {
  return call("GET", std::move(target), own_request_fields(options_), {}, Resend::kIfUnanswered);
}

Awaitable<Answered> ProbeCalls::head(std::string target) {
  return call("HEAD", std::move(target), own_request_fields(options_), {}, Resend::kIfUnanswered);
}

Awaitable<Answered> ProbeCalls::remove(std::string target, std::string condition,
                                       std::string value) {
  return call("DELETE", std::move(target), with(own_request_fields(options_), condition, value), {},
              resend_of(condition));
}

FieldLines ProbeCalls::move_fields(const std::string& to) const {
  FieldLines fields = own_request_fields(options_);
  fields.add("Destination", destination_of(options_.client, authority_of(options_.client), to));
  fields.add("Overwrite", "T");
  return fields;
}

Awaitable<Answered> ProbeCalls::move(std::string from, std::string to) {
  return call("MOVE", std::move(from), move_fields(to), {}, Resend::kIfUnsent);
}

Awaitable<ProbeCalls::Overtaken> ProbeCalls::move_overtaken(std::string from, std::string to) {
  Overtaken outcome;
  auto opened = co_await client_.open(timers_);
  if (!opened) {
    error_ = error_ ? error_ : std::move(opened.error());
    co_return outcome;
  }
  const FieldLines fields = move_fields(to);
  const base::net::OutgoingHead head{
      .method = "MOVE", .target = from, .fields = &fields, .content_length = 1, .chunked = false};
  auto begun = co_await (*opened)->send_head(head, kNoBody, false);
  // Time for the server to look at what it has.
  for (int i = 0; i < 3; ++i) {
    co_await get(to);
  }
  outcome.removed = co_await remove(from);
  if (!begun) {
    co_return outcome;
  }
  const std::string_view last = "x";
  auto sent = co_await (*opened)->send_body(last, true);
  auto answer = co_await (*opened)->receive_head();
  // Servers may refuse a MOVE with a body in any way they like.
  if (sent && answer) {
    outcome.moved.status = answer->status;
  }
  co_return outcome;
}

Awaitable<Answered> ProbeCalls::greet() {
  return head(target_of(options_.base_path, {}, false, {}));
}

Awaitable<void> ProbeCalls::clean() {
  const std::vector<std::string> targets = std::exchange(targets_, {});
  for (const std::string& target : targets) {
    Outgoing out{.method = "DELETE", .target = target, .fields = own_request_fields(options_)};
    std::string nothing;
    auto answered = co_await ask(client_, timers_, std::move(out), std::move(nothing), false,
                                 Resend::kIfUnanswered);
    if (!answered) {
      co_return;
    }
  }
}

Awaitable<Answered> ProbeCalls::call(std::string method, std::string target, FieldLines fields,
                                     std::string content, Resend resend) {
  if (error_) {
    co_return Answered();
  }
  const bool has_body = method == "PUT";
  Outgoing out{
      .method = std::move(method), .target = std::move(target), .fields = std::move(fields)};
  auto answered =
      co_await ask(client_, timers_, std::move(out), std::move(content), has_body, resend);
  if (!answered) {
    if (!error_) {
      error_ = std::move(answered.error());
    }
    co_return Answered();
  }
  co_return std::move(*answered);
}

}  // namespace fenceline::backends::http
