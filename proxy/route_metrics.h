#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/metrics.h"

namespace fenceline::proxy {

/// The metrics of one route. Copyable handles; thread-safe.
class RouteMetrics {
 public:
  RouteMetrics(base::MetricRegistry& registry, const std::string& route);

  /// `fenceline_requests_total{route,code}`: one answered request.
  void answered(int status) const;

  /// `fenceline_rejections_total{route,reason,enforced}`: the fence said no.
  void rejected(base::ErrorKind reason, bool enforced) const;

  /// `fenceline_takeovers_total{route}`: a higher token was admitted.
  void took_over() const { takeovers_.add(); }

  /// `fenceline_source_reset_suspected_total{route}`: an operator was told of it.
  void suspected_source_reset() const { source_resets_.add(); }

  /// `fenceline_enter_wait_seconds{route}`: a request waited for the ledger or the drain.
  void waited(double seconds) const { enter_wait_.observe(seconds); }

 private:
  /// Counters by hundreds of the status: few series, no lookup and no lock per request.
  std::vector<base::Counter> requests_;
  std::vector<base::Counter> rejections_;  ///< Two per reason: enforced, observed.
  base::Counter takeovers_;
  base::Counter source_resets_;
  base::Histogram enter_wait_;
};

}  // namespace fenceline::proxy
