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

Awaitable<Answered> ProbeCalls::move(std::string from, std::string to) {
  FieldLines fields = own_request_fields(options_);
  fields.add("Destination", destination_of(options_.client, authority_of(options_.client), to));
  fields.add("Overwrite", "T");
  return call("MOVE", std::move(from), std::move(fields), {}, Resend::kIfUnsent);
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
