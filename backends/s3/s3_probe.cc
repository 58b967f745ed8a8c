#include "backends/s3/s3_probe.h"

#include <optional>
#include <utility>

#include "backends/http/run_alone.h"
#include "backends/s3/s3_probe_calls.h"
#include "backends/s3/s3_probe_checks.h"
#include "backends/s3/s3_probe_trailers.h"

namespace fenceline::backends::s3 {
namespace {

using base::Awaitable;
using base::Result;

constexpr int kAttempts = 3;

// A connection that the server closed just then says nothing about what it can do.
bool may_try_again(int attempt, const base::Error& error) {
  return attempt < kAttempts && error.kind == base::ErrorKind::kUpstreamFailed;
}

Awaitable<S3Verdict> look_at_everything(S3ProbeCalls& calls) {
  S3Verdict verdict;
  auto greeting = co_await calls.greet();
  verdict.server = greeting.server;
  auto put = co_await check_put(calls);
  verdict.no_conditional_put = put.wrong;
  verdict.tags = put.tags;
  verdict.tags_repeat = put.tags_repeat;
  verdict.tags_are_md5 = put.tags_are_md5;
  if (!put.wrong) {
    verdict.no_conditional_delete = co_await check_delete(calls, put.tags);
    verdict.no_conditional_copy = co_await check_copy(calls, put.tags);
    verdict.no_conditional_complete = co_await check_complete(calls, put.tags);
  }
  verdict.no_final_abort = co_await check_abort(calls);
  co_return verdict;
}

Awaitable<Result<S3Verdict>> probe(base::net::HttpClient& client, base::TimerWheel& timers,
                                   const S3Options& options) {
  for (int attempt = 1;; ++attempt) {
    S3ProbeCalls calls(client, timers, options);
    auto verdict = co_await look_at_everything(calls);
    const auto error = calls.error();
    co_await calls.clean();
    if (!error) {
      co_return verdict;
    }
    const bool answers = !verdict.server.empty();
    if (!answers || !may_try_again(attempt, *error)) {
      co_return tl::unexpected<base::Error>(*error);
    }
  }
}

// Apart from the rest: a server that hangs on these, or hangs up, can do all else that was found.
Awaitable<http::Finding> probe_trailers(base::net::HttpClient& client, base::TimerWheel& timers,
                                        const S3Options& options, const S3Verdict& found) {
  for (int attempt = 1;; ++attempt) {
    S3ProbeCalls calls(client, timers, options);
    auto wrong = co_await check_trailers(calls, !found.no_conditional_put);
    const auto error = calls.error();
    co_await calls.clean();
    if (!error) {
      co_return wrong;
    }
    if (!may_try_again(attempt, *error)) {
      co_return error->detail;
    }
  }
}

Awaitable<void> probe_into(base::net::HttpClient& client, base::TimerWheel& timers,
                           const S3Options& options, std::optional<Result<S3Verdict>>& into) {
  auto verdict = co_await probe(client, timers, options);
  into.emplace(std::move(verdict));
  Result<S3Verdict>& found = *into;
  if (found && options.credentials) {
    auto wrong = co_await probe_trailers(client, timers, options, *found);
    found->no_trailers = std::move(wrong);
  }
}

}  // namespace

Result<S3Verdict> run_probe(const S3Options& options, const std::atomic<bool>& stop) {
  std::optional<Result<S3Verdict>> verdict;
  const auto work = [&](base::net::HttpClient& client, base::TimerWheel& timers) {
    return probe_into(client, timers, options, verdict);
  };
  auto ended = http::run_alone(options.http, stop, work);
  if (verdict) {
    return *std::move(verdict);
  }
  return ended ? base::fail(base::ErrorKind::kInternal, "the probe ended without a verdict")
               : base::pass_on(ended.error());
}

}  // namespace fenceline::backends::s3
