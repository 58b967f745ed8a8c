#include "backends/http/run_alone.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <utility>

#include "base/asio_await.h"
#include "base/clock.h"
#include "base/spawn.h"

namespace fenceline::backends::http {
namespace {

constexpr base::Milliseconds kTick{10};

// The wheel of a context that nobody else turns.
base::Awaitable<void> turn(boost::asio::io_context& context, base::TimerWheel& wheel,
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

}  // namespace

base::Result<void> run_alone(
    const HttpOptions& options, const std::atomic<bool>& stop,
    const std::function<base::Awaitable<void>(base::net::HttpClient&, base::TimerWheel&)>& work) {
  auto client_options = options.client;
  client_options.first_byte = std::min(client_options.first_byte, options.probe_limit);
  auto client = base::net::make_http_client(std::move(client_options));
  if (!client) {
    return base::pass_on(client.error());
  }
  bool ended = false;
  // What waits in the context may hold timers, so the wheel outlives it.
  base::TimerWheel wheel(kTick, base::SteadyClock().now());
  boost::asio::io_context context(1);
  base::spawn(context, turn(context, wheel, stop), [](const std::exception_ptr&) {});
  base::spawn(context, work(**client, wheel), [&context, &ended](const std::exception_ptr&) {
    ended = true;
    context.stop();
  });
  context.run_for(options.probe_limit);
  if (ended) {
    return {};
  }
  return base::fail(base::ErrorKind::kUpstreamTimeout,
                    fmt::format("the probe of {} did not end within {} ms", options.client.host,
                                options.probe_limit.count()));
}

}  // namespace fenceline::backends::http
