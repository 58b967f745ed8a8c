#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "backends/http/http_options.h"
#include "backends/http/standing.h"
#include "base/clock.h"
#include "base/error.h"

namespace fenceline::backends::http {

/// Knows how the upstream may be written to, and finds out again when it came back changed. While
/// that is not known nothing may be written. Thread-safe.
class UpstreamWatch {
 public:
  /// Blocks while it probes; gives up early when the flag is set.
  using Probe = std::function<base::Result<ProbeVerdict>(const std::atomic<bool>& stop)>;

  /// What a probe came to.
  struct Found {
    std::string server;  ///< Its `Server` field.
    std::shared_ptr<const Standing> standing;
  };
  /// As `Probe`, for whoever has a standing of a kind of its own.
  using Finder = std::function<base::Result<Found>(const std::atomic<bool>& stop)>;

  /// Probes once, blocking, if the options ask for a probe; afterwards on a thread of its own.
  /// `clock` outlives it.
  UpstreamWatch(HttpOptions options, Probe probe, const base::Clock& clock);

  /// The same with a probe of another kind. `unprobed`: how the upstream may be written to without
  /// a probe; null: it has to be probed.
  UpstreamWatch(HttpOptions options, std::shared_ptr<const Standing> unprobed, Finder find,
                const base::Clock& clock);
  ~UpstreamWatch();
  UpstreamWatch(const UpstreamWatch&) = delete;
  UpstreamWatch& operator=(const UpstreamWatch&) = delete;

  /// How it may be written to; null while that is not known.
  [[nodiscard]] std::shared_ptr<const Standing> standing() const;

  /// Why nothing may be written; nothing while it may.
  [[nodiscard]] std::optional<std::string> out_of_service() const;

  /// The upstream has answered, with this `Server` field. Costs one atomic load while all is well.
  void answered(std::string_view server);

  /// It did not: only `kUpstreamFailed` and `kUpstreamTimeout` count.
  void failed(const base::Error& error);

 private:
  void learn(base::Result<Found> found);
  void run();

  const HttpOptions options_;
  const Finder find_;
  const bool probes_;
  const base::Clock& clock_;
  std::atomic<bool> failing_ = false;
  std::atomic<bool> stop_ = false;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<const Standing> standing_;
  std::string reason_;
  std::string server_;
  base::MonotonicTime failing_since_;
  bool wants_probe_ = false;
  base::MonotonicTime next_try_;
  std::thread thread_;
};

}  // namespace fenceline::backends::http
