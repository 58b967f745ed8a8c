#include "backends/http/seal.h"

#include <memory>
#include <optional>
#include <utility>

#include "backends/http/errors.h"
#include "backends/http/forwarded_fields.h"
#include "backends/http/held_request.h"
#include "backends/http/look.h"
#include "backends/http/probe_calls.h"
#include "base/field_syntax.h"

namespace fenceline::backends::http {
namespace {

using base::Awaitable;
using base::Result;

constexpr int kTries = 5;
constexpr std::size_t kMaxAnswerBytes = 256UL * 1024;

// What describes the content goes back with it.
base::FieldLines fields_of_copy(const HttpOptions& options, const base::net::ResponseHead& read,
                                std::string_view tag) {
  base::FieldLines fields = own_request_fields(options);
  for (const base::Field& field : read.fields) {
    if (base::equal_names(field.name.substr(0, 8), "Content-") &&
        !base::equal_names(field.name, "Content-Length") &&
        !base::equal_names(field.name, "Content-Location")) {
      fields.add_named(field.name, field.value);
    }
  }
  fields.add("If-Match", tag);
  return fields;
}

// The tag after a write that was answered with `received`.
Awaitable<Result<std::string>> tag_after(SharedUpstream upstream, base::TimerWheel& timers,
                                         std::string target, Received received) {
  std::string tag(value_of(received.head, "ETag"));
  auto drained = co_await received.exchange->read_all(kMaxAnswerBytes);
  if (!tag.empty()) {
    co_return tag;
  }
  base::FieldLines fields = own_request_fields(upstream->options);
  auto seen = co_await look(upstream, timers, std::move(target), std::move(fields));
  if (!seen) {
    co_return base::pass_on(seen.error());
  }
  co_return seen->etag;
}

// One try; nothing if others were faster.
Awaitable<Result<std::optional<Sealed>>> write_again(SharedUpstream upstream,
                                                     base::TimerWheel& timers, std::string target,
                                                     Received read) {
  const std::string tag(value_of(read.head, "ETag"));
  Outgoing out{.method = "PUT",
               .target = target,
               .fields = fields_of_copy(upstream->options, read.head, tag)};
  HeldRequest copy(upstream, timers, std::move(out));
  auto bytes = base::net::HttpExchange::body_of(std::move(read.exchange));
  auto early = co_await copy.take(*bytes, kSmallBodyBytes);
  if (!early) {
    co_return base::pass_on(early.error());
  }
  std::optional<Received> answer = std::move(*early);
  if (!answer) {
    auto completed = co_await copy.complete();
    if (!completed) {
      co_return base::pass_on(completed.error());
    }
    answer = std::move(*completed);
  }
  if (answer->head.status == 412 || is_absent(answer->head.status)) {
    co_return std::nullopt;
  }
  if (answer->head.status / 100 != 2 || !answer->complete) {
    co_return tl::unexpected<base::Error>(
        step_failed("cannot write the resource again to seal it", answer->head.status));
  }
  auto now = co_await tag_after(upstream, timers, std::move(target), std::move(*answer));
  if (!now) {
    co_return base::pass_on(now.error());
  }
  co_return *now == tag ? Sealed::kSameTag : Sealed::kYes;
}

}  // namespace

Awaitable<Result<Sealed>> seal(SharedUpstream upstream, base::TimerWheel& timers,
                               std::string target) {
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const Outgoing get{
        .method = "GET", .target = target, .fields = own_request_fields(upstream->options)};
    auto read =
        co_await send_to(upstream, timers, get, std::nullopt, kNoBody, Resend::kIfUnanswered);
    if (!read) {
      co_return base::pass_on(read.error());
    }
    if (is_absent(read->head.status)) {
      co_return Sealed::kAbsent;
    }
    const std::string_view tag = value_of(read->head, "ETag");
    if (read->head.status != 200 || tag.size() <= 2 || tag.front() != '"') {
      co_return tl::unexpected<base::Error>(step_failed(
          "cannot read the resource and its strong ETag to seal it", read->head.status));
    }
    auto sealed = co_await write_again(upstream, timers, target, std::move(*read));
    if (!sealed) {
      co_return base::pass_on(sealed.error());
    }
    if (*sealed) {
      co_return **sealed;
    }
  }
  co_return tl::unexpected<base::Error>(lost_race(target));
}

}  // namespace fenceline::backends::http
