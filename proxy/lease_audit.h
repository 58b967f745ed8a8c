#pragma once

#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/metrics.h"
#include "fencing/lease/lessor.h"

namespace fenceline::proxy {

/// Tells people what the lease service did: counts, times, and one log line for each grant and for
/// each end of a lease. One per process. Thread-safe.
class LeaseAudit {
 public:
  /// `registry` outlives it.
  explicit LeaseAudit(base::MetricRegistry& registry);

  /// What the lessor calls; this outlives the lessor.
  [[nodiscard]] fencing::LeaseEvents events();

  /// A request to take a lease was answered after `took`, `waited` of it in line.
  void acquired(base::Milliseconds took, base::Milliseconds waited) const;

  /// A request to take, renew or release a lease was refused.
  void refused(base::ErrorKind reason) const;

  /// A lease was extended.
  void renewed() const { renewals_.add(); }

  /// For the gauges.
  void show(const fencing::Lessor::Counts& counts) const;

 private:
  void granted(const fencing::Lease& lease, base::Milliseconds waited) const;
  void ended(const fencing::Lease& lease, fencing::LeaseEvents::End how) const;

  base::Counter grants_;
  base::Counter renewals_;
  base::Histogram wait_seconds_;
  base::Histogram grant_seconds_;
  base::Gauge held_;
  base::Gauge waiting_;
  std::vector<base::Counter> ends_;      ///< By `LeaseEvents::End`.
  std::vector<base::Counter> refusals_;  ///< By the place of the kind in the list of reasons.
};

}  // namespace fenceline::proxy
