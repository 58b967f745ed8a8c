#include "backends/http/upstream.h"

#include <string>
#include <utility>

namespace fenceline::backends::http {

using base::Awaitable;
using base::Result;

Awaitable<Result<Received>> send_to(SharedUpstream upstream, base::TimerWheel& timers,
                                    const Outgoing& out, std::optional<std::uint64_t> body_bytes,
                                    std::string_view body, Resend resend) {
  base::net::HttpClient& client = *upstream->client;
  UpstreamWatch* const watch = upstream->watch.get();
  // The watch keeps the upstream, and with it the client.
  return send_whole(client, timers, out, body_bytes, body, resend,
                    std::shared_ptr<UpstreamWatch>(std::move(upstream), watch));
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
