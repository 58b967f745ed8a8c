#pragma once

#include <memory>
#include <string>

#include "base/boottime_clock.h"
#include "base/error.h"
#include "base/metrics.h"
#include "config/lease_config.h"
#include "fencing/gate.h"
#include "fencing/lease/lease_timer.h"
#include "fencing/lease/lessor.h"
#include "proxy/lease_audit.h"

namespace fenceline::proxy {

/// The one lessor of the process and what it lives on: its clock, its timer, its metrics. Outlives
/// every site. Not thread-safe but for what it gives out.
///
/// It is opened by the first configuration with `leases`, and stays to the end: one without only
/// takes the service off the listener, and what is held runs out.
class LeaseHost {
 public:
  /// `registry` outlives it, and every scrape ends before it.
  explicit LeaseHost(base::MetricRegistry& registry) : registry_(registry) {}
  LeaseHost(const LeaseHost&) = delete;
  LeaseHost& operator=(const LeaseHost&) = delete;

  /// `end`.
  ~LeaseHost() { end(); }

  /// Opens the lessor if it is not open, with these limits; blocks until the store has answered.
  /// Failure: of the ledger. `store` and `gate` outlive what the lessor began (see `end`).
  base::Result<void> open(const config::Leases& settings, fencing::LeaseStore& store,
                          fencing::Gate& gate);

  /// Gives the lessor other limits, if it is open. Thread-safe.
  void set_limits(const config::Leases& settings);

  /// Null until it is open.
  [[nodiscard]] fencing::Lessor* lessor() const { return lessor_.get(); }

  /// Only once it is open.
  [[nodiscard]] const LeaseAudit& audit() const { return *audit_; }

  /// Answers everybody who waits; nobody is granted anything any more.
  void close();

  /// Ends the timer: call it when no request runs any more, before the ledger ends.
  void stop_timer();

  /// Ends the lessor: after the ledger, whose last answers find it, and before the gate.
  void end();

 private:
  base::MetricRegistry& registry_;
  base::BoottimeClock clock_;
  fencing::LeaseTimer timer_;
  std::unique_ptr<LeaseAudit> audit_;
  std::unique_ptr<fencing::Lessor> lessor_;
};

/// 32 random hexadecimal digits.
std::string random_id();

}  // namespace fenceline::proxy
