#pragma once

#include <memory>
#include <string>

#include "backends/http/http_options.h"
#include "backends/http/send.h"
#include "backends/http/upstream_watch.h"
#include "base/net/http_client.h"
#include "base/request_id.h"
#include "base/timer_wheel.h"

namespace fenceline::backends::http {

/// The upstream of one route, shared by all that work on it. Thread-safe.
struct Upstream {
  HttpOptions options;
  std::string origin;
  std::shared_ptr<base::net::HttpClient> client;
  std::unique_ptr<UpstreamWatch> watch;
  base::RequestIds unique = {};  ///< For temporary names.
};

using SharedUpstream = std::shared_ptr<Upstream>;

/// `send_whole` and `ask` to the upstream, whose health is noted.
base::Awaitable<base::Result<Received>> send_to(SharedUpstream upstream, base::TimerWheel& timers,
                                                const Outgoing& out,
                                                std::optional<std::uint64_t> body_bytes,
                                                std::string_view body, Resend resend);
base::Awaitable<base::Result<Answered>> ask_upstream(SharedUpstream upstream,
                                                     base::TimerWheel& timers, Outgoing out,
                                                     Resend resend);

}  // namespace fenceline::backends::http
