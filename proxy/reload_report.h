#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "proxy/reload.h"

namespace fenceline::proxy {

/// What a reload has changed, for its log line.
struct Reloaded {
  const ReloadPlan& plan;
  std::uint64_t generation = 0;
  std::string listen;  ///< "address:port".
  std::string admin;   ///< The same, or "none".
};

/// Tells people what became of a reload: log lines, and the metrics that Prometheus' own reload
/// has. For one thread. The registry must outlive it.
class ReloadReport {
 public:
  explicit ReloadReport(base::MetricRegistry& registry);

  /// The configuration of the start counts as loaded now.
  void started();

  /// One line `reloaded`.
  void succeeded(const Reloaded& reloaded);

  /// One line `reload_problem` for each of `problems`, then `reload_failed`.
  void failed(const std::string& file, const std::vector<std::string>& problems);

 private:
  base::Counter successes_;
  base::Counter failures_;
  base::Gauge last_successful_;
  base::Gauge last_success_seconds_;
};

}  // namespace fenceline::proxy
