#include "backends/http/probe.h"

#include <optional>
#include <utility>

#include "backends/http/probe_calls.h"
#include "backends/http/probe_conditions.h"
#include "backends/http/probe_move.h"
#include "backends/http/run_alone.h"

namespace fenceline::backends::http {
namespace {

using base::Awaitable;
using base::Result;

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
  std::optional<Result<ProbeVerdict>> verdict;
  const auto probe = [&](base::net::HttpClient& client, base::TimerWheel& timers) {
    return probe_into(client, timers, options, verdict);
  };
  auto ended = run_alone(options, stop, probe);
  if (verdict) {
    return *std::move(verdict);
  }
  return ended ? base::fail(base::ErrorKind::kInternal, "the probe ended without a verdict")
               : base::pass_on(ended.error());
}

}  // namespace fenceline::backends::http
