#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <future>
#include <mutex>

#include "client/blocking_http.h"
#include "client/sources/fenceline_calls.h"
#include "client/sources/fenceline_service.h"
#include "client/sources/sources.h"

namespace fenceline::client {
namespace {

using base::Applied;
using base::ErrorKind;
using base::Milliseconds;
using base::MonotonicTime;
using base::Result;

/// For a call that does not wait.
constexpr Milliseconds kCall{5'000};
/// How long an order without wait tries again to learn what became of it.
constexpr Milliseconds kPatience{2'000};
/// For what is cleaned up after a stop.
constexpr Milliseconds kCleanUp{200};
constexpr Milliseconds kFirstPause{50};
constexpr Milliseconds kLongestPause{1'000};
constexpr int kNotFound = 404;

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

  /// An answer that nobody needs is not waited for.
  ~Poll() { stop_source_.request_stop(); }
  Poll(const Poll&) = delete;
  Poll& operator=(const Poll&) = delete;

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
  FencelineSource(LeaseService service, bool tls, Milliseconds window,
                  std::array<std::unique_ptr<BlockingHttp>, 2> connections,
                  const base::Clock& clock)
      : service_(std::move(service)),
        tls_(tls),
        window_(window),
        connections_(std::move(connections)),
        clock_(clock) {}

  Result<Grant> acquire(const LeaseOrder& order, std::stop_token stop) override;
  Result<Grant> renew(const Grant& grant, std::stop_token stop) override;
  Result<void> release(const Grant& grant) override;
  Result<std::optional<HeldBy>> show(const base::FenceKey& key) override;
  // Its ledger is durable and its tokens are above every mark, whatever happens to it.
  Result<std::vector<std::string>> warnings() override { return std::vector<std::string>(); }
  [[nodiscard]] std::string_view scheme() const override {
    return tls_ ? "fencelines" : "fenceline";
  }

 private:
  [[nodiscard]] Milliseconds until(MonotonicTime end) const {
    return std::chrono::duration_cast<Milliseconds>(end - clock_.now());
  }
  Result<Grant> wait_in_line(const LeaseOrder& order, MonotonicTime end,
                             const std::stop_token& stop);
  Result<Grant> confirmed(Grant grant, const std::stop_token& stop);
  void give_back(const LeaseOrder& order);

  const LeaseService service_;
  const bool tls_;
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
  renewed.valid_until = surely_until(sent, *ttl);
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
  if (answer->status != kNotFound) {
    return read_show(service_, *answer);
  }
  // Nobody holds it, or there is no lease service at all.
  const auto list = connections_[0]->ask(list_call(service_, "", "", 1, kCall), {});
  if (!list) {
    return tl::unexpected<base::Error>(list.error());
  }
  std::string next;
  if (auto listed = read_list(service_, *list, next); !listed) {
    return base::pass_on(listed.error());
  }
  return std::optional<HeldBy>();
}

}  // namespace

MadeSource make_fenceline_source(SourceUrl url, const base::Clock& clock) {
  auto target = find_lease_service(std::move(url));
  if (!target) {
    return base::pass_on(target.error());
  }
  std::array<std::unique_ptr<BlockingHttp>, 2> connections;
  for (std::unique_ptr<BlockingHttp>& connection : connections) {
    auto made = make_blocking_http(target->client);
    if (!made) {
      return base::fail(ErrorKind::kMalformedRequest, made.error().detail);
    }
    connection = std::move(*made);
  }
  return std::make_unique<FencelineSource>(std::move(target->service), target->client.tls,
                                           target->window, std::move(connections), clock);
}

}  // namespace fenceline::client
