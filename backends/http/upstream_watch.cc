#include "backends/http/upstream_watch.h"

#include <fmt/format.h>

#include <utility>

namespace fenceline::backends::http {

UpstreamWatch::UpstreamWatch(HttpOptions options, Probe probe, const base::Clock& clock)
    : options_(std::move(options)), probe_(std::move(probe)), clock_(clock) {
  if (!needs_probe(options_)) {
    standing_ = std::make_shared<const Standing>(standing_of(options_, std::nullopt));
    return;
  }
  learn(probe_(stop_));
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
  if (!failing_.exchange(false) || !needs_probe(options_) || standing_ == nullptr) {
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

void UpstreamWatch::learn(base::Result<ProbeVerdict> verdict) {
  const std::scoped_lock lock(mutex_);
  wants_probe_ = !verdict;
  if (verdict) {
    server_ = verdict->server;
    auto found = std::make_shared<const Standing>(standing_of(options_, *verdict));
    if (found->capabilities.guarantee >= options_.required) {
      standing_ = std::move(found);
      return;
    }
    wants_probe_ = true;
    reason_ = fmt::format("the route requires {}, but this upstream is {}: {}",
                          to_string(options_.required), to_string(found->capabilities.guarantee),
                          found->capabilities.assumption);
  } else {
    reason_ = "what the upstream can do is not known, its probe failed: " + verdict.error().detail;
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
      learn(probe_(stop_));
      lock.lock();
    }
  }
}

}  // namespace fenceline::backends::http
