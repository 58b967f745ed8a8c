#include "backends/http/upstream_watch.h"

#include <fmt/format.h>

#include <utility>

namespace fenceline::backends::http {

namespace {

std::shared_ptr<const Standing> shared(Standing standing) {
  return std::make_shared<const Standing>(std::move(standing));
}

std::shared_ptr<const Standing> without_probe(const HttpOptions& options) {
  return needs_probe(options) ? nullptr : shared(standing_of(options, std::nullopt));
}

UpstreamWatch::Finder finder_of(const HttpOptions& options, UpstreamWatch::Probe probe) {
  return [options, probe = std::move(probe)](
             const std::atomic<bool>& stop) -> base::Result<UpstreamWatch::Found> {
    auto verdict = probe(stop);
    if (!verdict) {
      return base::pass_on(verdict.error());
    }
    return UpstreamWatch::Found{.server = verdict->server,
                                .standing = shared(standing_of(options, *verdict))};
  };
}

}  // namespace

UpstreamWatch::UpstreamWatch(HttpOptions options, Probe probe, const base::Clock& clock)
    : UpstreamWatch(options, without_probe(options), finder_of(options, std::move(probe)), clock) {}

UpstreamWatch::UpstreamWatch(HttpOptions options, std::shared_ptr<const Standing> unprobed,
                             Finder find, const base::Clock& clock)
    : options_(std::move(options)),
      find_(std::move(find)),
      probes_(unprobed == nullptr),
      clock_(clock),
      standing_(std::move(unprobed)) {
  if (!probes_) {
    return;
  }
  learn(find_(stop_));
  thread_ = std::thread([this] { run(); });
}

UpstreamWatch::~UpstreamWatch() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

std::shared_ptr<const Standing> UpstreamWatch::standing() const {
  const std::scoped_lock lock(mutex_);
  return standing_;
}

std::optional<std::string> UpstreamWatch::out_of_service() const {
  const std::scoped_lock lock(mutex_);
  return standing_ ? std::nullopt : std::optional(reason_);
}

void UpstreamWatch::answered(std::string_view server) {
  if (!failing_.load(std::memory_order_relaxed)) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  if (!failing_.exchange(false) || !probes_ || standing_ == nullptr) {
    return;
  }
  const bool gone_long = clock_.now() - failing_since_ >= options_.changed_after;
  if (gone_long || server != server_) {
    standing_ = nullptr;
    reason_ = "the upstream was gone and came back, perhaps another one; it is being probed";
    wants_probe_ = true;
    next_try_ = clock_.now();
    wake_.notify_all();
  }
}

void UpstreamWatch::failed(const base::Error& error) {
  if (error.kind != base::ErrorKind::kUpstreamFailed &&
      error.kind != base::ErrorKind::kUpstreamTimeout) {
    return;
  }
  const std::scoped_lock lock(mutex_);
  if (!failing_.exchange(true)) {
    failing_since_ = clock_.now();
  }
}

void UpstreamWatch::learn(base::Result<Found> found) {
  const std::scoped_lock lock(mutex_);
  wants_probe_ = !found;
  if (found) {
    server_ = found->server;
    const Capabilities& capabilities = found->standing->capabilities;
    if (capabilities.guarantee >= options_.required) {
      standing_ = std::move(found->standing);
      return;
    }
    wants_probe_ = true;
    reason_ = fmt::format("the route requires {}, but this upstream is {}: {}",
                          to_string(options_.required), to_string(capabilities.guarantee),
                          capabilities.assumption);
  } else {
    reason_ = "what the upstream can do is not known, its probe failed: " + found.error().detail;
  }
  next_try_ = clock_.now() + options_.probe_again;
}

void UpstreamWatch::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (!wants_probe_) {
      wake_.wait(lock);
    } else if (clock_.now() < next_try_) {
      wake_.wait_for(lock, next_try_ - clock_.now());
    } else {
      lock.unlock();
      learn(find_(stop_));
      lock.lock();
    }
  }
}

}  // namespace fenceline::backends::http
