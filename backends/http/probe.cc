#include "backends/http/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "backends/http/probe_calls.h"
#include "backends/http/probe_conditions.h"
#include "backends/http/probe_move.h"
#include "base/asio_await.h"
#include "base/clock.h"
#include "base/spawn.h"

namespace fenceline::backends::http {
namespace {

using base::Awaitable;
using base::Milliseconds;
using base::Result;

constexpr Milliseconds kTick{10};
constexpr int kAttempts = 3;

bool may_use(const HttpOptions& options, CommitMode mode) {
  return options.commit == CommitMode::kAuto || options.commit == mode;
}

Awaitable<ProbeVerdict> look_at_everything(ProbeCalls& calls, const HttpOptions& options) {
  ProbeVerdict verdict;
  auto greeting = co_await calls.greet();
  verdict.server = greeting.server;
  if (may_use(options, CommitMode::kMove)) {
    verdict.no_move = co_await check_move(calls);
  }
  if (may_use(options, CommitMode::kConditional)) {
    verdict.no_conditional_put = co_await check_conditional_put(calls, verdict.tags_return);
    if (!verdict.no_conditional_put) {
      verdict.no_conditional_delete = co_await check_conditional_delete(calls);
    }
  }
  co_return verdict;
}

// The wheel of a context that nobody else turns.
Awaitable<void> turn(boost::asio::io_context& context, base::TimerWheel& wheel,
                     const std::atomic<bool>& stop) {
  const base::SteadyClock clock;
  boost::asio::steady_timer tick(context);
  boost::system::error_code ignored;
  auto token = base::await_into(ignored);
  while (!stop) {
    tick.expires_after(kTick);
    co_await tick.async_wait(token);
    wheel.advance(clock.now());
  }
  context.stop();
}

Awaitable<void> probe_into(base::net::HttpClient& client, base::TimerWheel& timers,
                           const HttpOptions& options, std::optional<Result<ProbeVerdict>>& into) {
  auto verdict = co_await probe_upstream(client, timers, options);
  into.emplace(std::move(verdict));
}

}  // namespace

Awaitable<Result<ProbeVerdict>> probe_upstream(base::net::HttpClient& client,
                                               base::TimerWheel& timers,
                                               const HttpOptions& options) {
  for (int attempt = 1;; ++attempt) {
    ProbeCalls calls(client, timers, options);
    auto verdict = co_await look_at_everything(calls, options);
    co_await calls.clean();
    if (!calls.error()) {
      co_return verdict;
    }
    // A connection that the server closed just then says nothing about what it can do.
    const bool answers = !verdict.server.empty();
    if (attempt == kAttempts || !answers ||
        calls.error()->kind != base::ErrorKind::kUpstreamFailed) {
      co_return tl::unexpected<base::Error>(*calls.error());
    }
  }
}

Result<ProbeVerdict> run_probe(const HttpOptions& options, const std::atomic<bool>& stop) {
  auto client_options = options.client;
  client_options.first_byte = std::min(client_options.first_byte, options.probe_limit);
  auto client = base::net::make_http_client(std::move(client_options));
  if (!client) {
    return base::pass_on(client.error());
  }
  std::optional<Result<ProbeVerdict>> verdict;
  // What waits in the context may hold timers, so the wheel outlives it.
  base::TimerWheel wheel(kTick, base::SteadyClock().now());
  boost::asio::io_context context(1);
  base::spawn(context, turn(context, wheel, stop), [](const std::exception_ptr&) {});
  base::spawn(context, probe_into(**client, wheel, options, verdict),
              [&context](const std::exception_ptr&) { context.stop(); });
  context.run_for(options.probe_limit);
  if (verdict) {
    return *std::move(verdict);
  }
  return base::fail(base::ErrorKind::kUpstreamTimeout,
                    fmt::format("the probe of {} did not end within {} ms", options.client.host,
                                options.probe_limit.count()));
}

}  // namespace fenceline::backends::http
