#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <future>
#include <mutex>

#include "client/blocking_http.h"
#include "client/sources/fenceline_calls.h"
#include "client/sources/sources.h"

namespace fenceline::client {
namespace {

using base::Applied;
using base::ErrorKind;
using base::Milliseconds;
using base::MonotonicTime;
using base::Result;

/// One request waits in line so long; the next one takes its place over before it ends. At most
/// `leases.max_wait` of the server.
constexpr Milliseconds kWindow{20'000};
/// For a call that does not wait.
constexpr Milliseconds kCall{5'000};
/// How long an order without wait tries again to learn what became of it.
constexpr Milliseconds kPatience{2'000};
/// For what is cleaned up after a stop.
constexpr Milliseconds kCleanUp{200};
constexpr Milliseconds kFirstPause{50};
constexpr Milliseconds kLongestPause{1'000};

/// One acquire on its way, in a thread of its own.
class Poll {
 public:
  Poll(BlockingHttp& http, HttpCall call, const std::stop_token& stop)
      : stop_source_(),
        forward_(stop, [this] { stop_source_.request_stop(); }),
        answer_(std::async(std::launch::async,
                           [&http, call = std::move(call), token = stop_source_.get_token()] {
                             return http.ask(call, token);
                           })) {}

  /// True if it has been answered within `time`.
  bool answered_within(Milliseconds time) {
    return answer_.wait_for(time) == std::future_status::ready;
  }

  Result<HttpAnswer> get() { return answer_.get(); }

 private:
  std::stop_source stop_source_;
  std::stop_callback<std::function<void()>> forward_;
  std::future<Result<HttpAnswer>> answer_;
};

class FencelineSource final : public TokenSource {
 public:
  FencelineSource(LeaseService service, std::string scheme, Milliseconds window,
                  std::array<std::unique_ptr<BlockingHttp>, 2> connections,
                  const base::Clock& clock)
      : service_(std::move(service)),
        scheme_(std::move(scheme)),
        window_(window),
        connections_(std::move(connections)),
        clock_(clock) {}

  Result<Grant> acquire(const LeaseOrder& order, std::stop_token stop) override;
  Result<Grant> renew(const Grant& grant, std::stop_token stop) override;
  Result<void> release(const Grant& grant) override;
  Result<std::optional<HeldBy>> show(const base::FenceKey& key) override;
  // Its ledger is durable and its tokens are above every mark, whatever happens to it.
  Result<std::vector<std::string>> warnings() override { return std::vector<std::string>(); }
  [[nodiscard]] std::string_view scheme() const override { return scheme_; }

 private:
  [[nodiscard]] Milliseconds until(MonotonicTime end) const {
    return std::chrono::duration_cast<Milliseconds>(end - clock_.now());
  }
  Result<Grant> wait_in_line(const LeaseOrder& order, MonotonicTime end,
                             const std::stop_token& stop);
  Result<Grant> confirmed(Grant grant, const std::stop_token& stop);
  void give_back(const LeaseOrder& order);

  const LeaseService service_;
  const std::string scheme_;
  const Milliseconds window_;
  /// Two, because the next request of a long wait overlaps the one before it.
  const std::array<std::unique_ptr<BlockingHttp>, 2> connections_;
  const base::Clock& clock_;
};

/// Waits, but not through a stop. False after a stop.
bool pause(Milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any condition;
  condition.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

bool may_pass(const base::Error& error) {
  return error.kind == ErrorKind::kUpstreamFailed || error.kind == ErrorKind::kUpstreamTimeout;
}

/// One attempt's place in line, held over as many requests as its wait needs. The request that
/// follows is sent while the one before still waits: the server then answers the older one, and the
/// place is kept.
Result<Grant> FencelineSource::wait_in_line(const LeaseOrder& order, MonotonicTime end,
                                            const std::stop_token& stop) {
  std::size_t next = 0;
  const auto start = [&] {
    const Milliseconds wait = std::clamp(until(end), Milliseconds(0), window_);
    return std::make_unique<Poll>(*connections_[next++ % connections_.size()],
                                  acquire_call(service_, order, wait, wait + kCall), stop);
  };
  std::unique_ptr<Poll> current = start();
  while (until(end) > window_ && !current->answered_within(window_ * 3 / 4)) {
    std::unique_ptr<Poll> newer = start();
    const auto older = current->get();
    current = std::move(newer);
    if (older) {
      if (auto grant = read_grant(service_, order, *older)) {
        return grant;  // The newer one is answered with the same lease.
      }
    }
  }
  const auto answer = current->get();
  if (!answer) {
    return tl::unexpected<base::Error>(answer.error());
  }
  return read_grant(service_, order, *answer);
}

/// Only a ttl counted from a request that did not wait says for how long a lease is surely held.
Result<Grant> FencelineSource::confirmed(Grant grant, const std::stop_token& stop) {
  if (grant.valid_until - clock_.now() > grant.ttl * 9 / 10) {
    return grant;
  }
  auto renewed = renew(grant, stop);
  if (!renewed && may_pass(renewed.error()) && grant.valid_until > clock_.now()) {
    return grant;
  }
  return renewed;
}

Result<Grant> FencelineSource::acquire(const LeaseOrder& order, std::stop_token stop) {
  if (stop.stop_requested()) {
    return base::fail(ErrorKind::kClientGone, "The order was stopped before it was sent.");
  }
  const MonotonicTime start = clock_.now();
  const MonotonicTime end = start + order.wait;
  Milliseconds rest = kFirstPause;
  LeaseOrder attempt = order;
  MonotonicTime sent = start;  // The first request of this attempt.
  bool maybe_granted = false;
  for (int round = 1;; ++round) {
    auto grant = wait_in_line(attempt, end, stop);
    if (grant) {
      maybe_granted = true;
      grant->valid_until = surely_until(sent, grant->ttl);
      grant = confirmed(std::move(*grant), stop);
      if (grant) {
        return grant;
      }
    } else {
      maybe_granted |= grant.error().applied != Applied::kNo;
    }
    base::Error& error = grant.error();
    const bool ended = error.kind == ErrorKind::kLeaseEnded;
    const bool held = error.kind == ErrorKind::kLeaseHeld;
    const bool unsure = may_pass(error) && error.applied != Applied::kNo;
    const MonotonicTime patience = unsure || ended ? std::max(end, start + kPatience) : end;
    const bool again = (ended || held || may_pass(error)) && clock_.now() < patience;
    if (!again || !pause(rest, stop)) {
      if (stop.stop_requested() && error.kind != ErrorKind::kClientGone) {
        error = base::fail(ErrorKind::kClientGone, "The order was stopped.").value();
      }
      if (maybe_granted || error.kind == ErrorKind::kClientGone) {
        give_back(attempt);
      }
      return base::pass_on(error);
    }
    rest = std::min(rest * 2, kLongestPause);
    if (ended) {
      // It was granted, and expired before anybody here knew: what follows is another attempt.
      attempt.attempt = fmt::format("{}.{}", order.attempt, round);
      sent = clock_.now();
    }
  }
}

/// Takes the attempt out of the line, and releases what it may have been granted.
void FencelineSource::give_back(const LeaseOrder& order) {
  auto answer = connections_[0]->ask(acquire_call(service_, order, Milliseconds(0), kCleanUp), {});
  if (!answer) {
    return;
  }
  if (const auto grant = read_grant(service_, order, *answer)) {
    (void)connections_[0]->ask(release_call(service_, *grant, kCleanUp), {});
  }
}

Result<Grant> FencelineSource::renew(const Grant& grant, std::stop_token stop) {
  const MonotonicTime sent = clock_.now();
  const Milliseconds deadline = std::clamp(grant.ttl / 3, Milliseconds(500), kCall);
  const auto answer = connections_[0]->ask(renew_call(service_, grant, deadline), std::move(stop));
  if (!answer) {
    return tl::unexpected<base::Error>(answer.error());
  }
  auto ttl = read_renewal(service_, grant, *answer);
  if (!ttl) {
    return base::pass_on(ttl.error());
  }
  Grant renewed = grant;
  renewed.ttl = *ttl;
  renewed.valid_until = std::max(grant.valid_until, surely_until(sent, *ttl));
  return renewed;
}

Result<void> FencelineSource::release(const Grant& grant) {
  bool unsure = false;
  const MonotonicTime end = clock_.now() + kPatience;
  while (true) {
    const auto answer = connections_[0]->ask(release_call(service_, grant, kCall), {});
    auto released = answer ? read_release(service_, *answer)
                           : Result<void>(tl::unexpected<base::Error>(answer.error()));
    if (released || (unsure && released.error().kind == ErrorKind::kLeaseEnded)) {
      return {};
    }
    const base::Error& error = released.error();
    if (!may_pass(error) || error.applied == Applied::kNo || clock_.now() >= end) {
      return released;
    }
    unsure = true;
    (void)pause(kFirstPause, {});
  }
}

Result<std::optional<HeldBy>> FencelineSource::show(const base::FenceKey& key) {
  const auto answer = connections_[0]->ask(show_call(service_, key, kCall), {});
  if (!answer) {
    return tl::unexpected<base::Error>(answer.error());
  }
  return read_show(service_, *answer);
}

/// The bearer token: of `?token-file=`, else of the environment; empty if there is none.
Result<std::string> bearer_token(SourceUrl& url) {
  const auto file = url.take("token-file");
  if (!file) {
    const char* const value =
        std::getenv("FENCELINE_LEASE_TOKEN");  // NOLINT(concurrency-mt-unsafe)
    return std::string(value == nullptr ? "" : value);
  }
  std::ifstream in(*file);
  std::string token;
  if (!std::getline(in, token) || token.empty()) {
    return base::fail(ErrorKind::kMalformedRequest,
                      fmt::format("The token-file '{}' of the source cannot be read, or its first "
                                  "line is empty.",
                                  *file));
  }
  return token;
}

Result<Milliseconds> window_of(SourceUrl& url) {
  const auto text = url.take("poll");
  if (!text) {
    return kWindow;
  }
  int seconds = 0;
  const char* const end = text->data() + text->size();
  const auto [last, error] = std::from_chars(text->data(), end, seconds);
  if (error != std::errc() || last != end || seconds < 1 || seconds > 3'600) {
    return base::fail(ErrorKind::kMalformedRequest,
                      "The option 'poll' of the source is a number of seconds from 1 to 3600.");
  }
  return Milliseconds(std::chrono::seconds(seconds));
}

}  // namespace

MadeSource make_fenceline_source(SourceUrl url, const base::Clock& clock) {
  if (url.hosts.size() != 1 || url.user) {
    return base::fail(ErrorKind::kMalformedRequest,
                      "A fenceline source has one host and no user, as fenceline://host:8080; its "
                      "bearer token comes from FENCELINE_LEASE_TOKEN or ?token-file=.");
  }
  LeaseService service;
  const SourceHost& host = url.hosts.front();
  service.address = host.host.find(':') == std::string::npos
                        ? fmt::format("{}:{}", host.host, host.port)
                        : fmt::format("[{}]:{}", host.host, host.port);
  if (url.path.size() > 1) {
    service.path = url.path.substr(0, url.path.find_last_not_of('/') + 1);
  }
  auto token = bearer_token(url);
  if (!token) {
    return base::pass_on(token.error());
  }
  service.bearer_token = std::move(*token);
  auto window = window_of(url);
  if (!window) {
    return base::pass_on(window.error());
  }
  base::net::HttpClientOptions options;
  options.host = host.host;
  options.port = host.port;
  options.tls = url.scheme == "fencelines";
  // Each call has its deadline.
  options.first_byte = std::chrono::hours(2);
  if (auto ca = url.take("ca")) {
    options.tls_ca_file = std::move(*ca);
  }
  if (auto left = url.check_all_taken(); !left) {
    return base::pass_on(left.error());
  }
  std::array<std::unique_ptr<BlockingHttp>, 2> connections;
  for (std::unique_ptr<BlockingHttp>& connection : connections) {
    auto made = make_blocking_http(options);
    if (!made) {
      return base::fail(ErrorKind::kMalformedRequest, made.error().detail);
    }
    connection = std::move(*made);
  }
  return std::make_unique<FencelineSource>(std::move(service), url.scheme, *window,
                                           std::move(connections), clock);
}

}  // namespace fenceline::client
