#include "backends/http/upstream.h"

#include <string>
#include <utility>

namespace fenceline::backends::http {

using base::Awaitable;
using base::Result;

Awaitable<Result<Received>> send_to(SharedUpstream upstream, base::TimerWheel& timers,
                                    const Outgoing& out, std::optional<std::uint64_t> body_bytes,
                                    std::string_view body, Resend resend) {
  auto received = co_await send_whole(*upstream->client, timers, out, body_bytes, body, resend);
  if (received) {
    upstream->watch->answered(value_of(received->head, "Server"));
  } else {
    upstream->watch->failed(received.error());
  }
  co_return received;
}

Awaitable<Result<Answered>> ask_upstream(SharedUpstream upstream, base::TimerWheel& timers,
                                         Outgoing out, Resend resend) {
  std::string nothing;
  auto answered =
      co_await ask(*upstream->client, timers, std::move(out), std::move(nothing), false, resend);
  if (answered) {
    upstream->watch->answered(answered->server);
  } else {
    upstream->watch->failed(answered.error());
  }
  co_return answered;
}

}  // namespace fenceline::backends::http
