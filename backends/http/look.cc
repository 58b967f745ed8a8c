#include "backends/http/look.h"

#include <utility>

#include "backends/http/errors.h"
#include "backends/http/probe_calls.h"
#include "base/http_date.h"

namespace fenceline::backends::http {

using base::Awaitable;
using base::Result;

Awaitable<Result<Seen>> look(SharedUpstream upstream, base::TimerWheel& timers, std::string target,
                             base::FieldLines fields) {
  Outgoing out{.method = "HEAD", .target = std::move(target), .fields = std::move(fields)};
  auto answered =
      co_await ask_upstream(std::move(upstream), timers, std::move(out), Resend::kIfUnanswered);
  if (!answered) {
    co_return tl::unexpected<base::Error>(without_effect(std::move(answered.error())));
  }
  if (is_absent(answered->status)) {
    co_return Seen();
  }
  if (!answered->succeeded()) {
    co_return tl::unexpected<base::Error>(
        step_failed("cannot see the state of the resource with HEAD", answered->status));
  }
  co_return Seen{.exists = true,
                 .etag = answered->etag,
                 .last_modified_s = base::parse_http_date(answered->last_modified)};
}

}  // namespace fenceline::backends::http
