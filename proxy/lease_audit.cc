#include "proxy/lease_audit.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "base/log.h"
#include "proxy/lease_json.h"

namespace fenceline::proxy {
namespace {

using base::ErrorKind;
using End = fencing::LeaseEvents::End;

/// Everything that a request for a lease can be refused for; any other kind counts as the last.
constexpr std::array kReasons = {
    ErrorKind::kLeaseHeld,     ErrorKind::kLeaseEnded,        ErrorKind::kMalformedRequest,
    ErrorKind::kUnauthorized,  ErrorKind::kOverloaded,        ErrorKind::kDraining,
    ErrorKind::kClientGone,    ErrorKind::kLedgerUnavailable, ErrorKind::kShuttingDown,
    ErrorKind::kTargetTooLong, ErrorKind::kBodyTooLarge,      ErrorKind::kMethodNotAllowed,
    ErrorKind::kNotFound,      ErrorKind::kConstraintFailed,  ErrorKind::kInternal};

constexpr std::array kEnds = {End::kReleased, End::kExpired, End::kRevoked};

std::string_view name_of_end(End how) {
  switch (how) {
    case End::kReleased:
      return "released";
    case End::kExpired:
      return "expired";
    case End::kRevoked:
      break;
  }
  return "revoked";
}

std::string count_text(base::Milliseconds time) { return std::to_string(time.count()); }

double seconds(base::Milliseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

LeaseAudit::LeaseAudit(base::MetricRegistry& registry)
    : grants_(registry.counter("fenceline_lease_grants_total", "Leases that were granted.", {})),
      renewals_(
          registry.counter("fenceline_lease_renewals_total", "Leases that were extended.", {})),
      wait_seconds_(registry.histogram(
          "fenceline_lease_wait_seconds",
          "Time in line, from the request to the turn; of leases that were granted.", {},
          base::seconds_bounds())),
      grant_seconds_(registry.histogram(
          "fenceline_lease_grant_seconds",
          "Time from the turn of a request to its answer: durable, and older commits gone.", {},
          base::seconds_bounds())),
      held_(registry.gauge("fenceline_leases_held", "Leases that are held.", {})),
      waiting_(registry.gauge("fenceline_lease_waiters", "Requests that wait for a lease.", {})) {
  for (const End how : kEnds) {
    ends_.push_back(registry.counter("fenceline_lease_ends_total",
                                     "Leases that have ended, by how.",
                                     {{"how", std::string(name_of_end(how))}}));
  }
  for (const ErrorKind reason : kReasons) {
    refusals_.push_back(registry.counter("fenceline_lease_refusals_total",
                                         "Requests for leases that were refused, by reason.",
                                         {{"reason", std::string(name_of(reason))}}));
  }
}

fencing::LeaseEvents LeaseAudit::events() {
  return {.granted = [this](const fencing::Lease& lease,
                            base::Milliseconds waited) { granted(lease, waited); },
          .ended = [this](const fencing::Lease& lease, End how) { ended(lease, how); }};
}

void LeaseAudit::acquired(base::Milliseconds took, base::Milliseconds waited) const {
  grant_seconds_.observe(seconds(std::max(took - waited, base::Milliseconds(0))));
}

void LeaseAudit::refused(ErrorKind reason) const {
  const auto found = std::ranges::find(kReasons, reason);
  const auto index = static_cast<std::size_t>(found - kReasons.begin());
  refusals_[std::min(index, refusals_.size() - 1)].add();
}

void LeaseAudit::show(const fencing::Lessor::Counts& counts) const {
  held_.set(static_cast<double>(counts.held));
  waiting_.set(static_cast<double>(counts.waiting));
}

void LeaseAudit::granted(const fencing::Lease& lease, base::Milliseconds waited) const {
  grants_.add();
  wait_seconds_.observe(seconds(waited));
  const std::string keys = keys_text(lease.keys);
  const std::string token = lease.token.text();
  const std::string ttl_ms = count_text(lease.ttl);
  const std::string waited_ms = count_text(waited);
  base::log(base::LogLevel::kInfo, "lease_granted", "older tokens of its keys are fenced",
            {{"key", keys},
             {"token", token},
             {"holder", lease.holder},
             {"ttl_ms", ttl_ms},
             {"waited_ms", waited_ms}});
}

void LeaseAudit::ended(const fencing::Lease& lease, End how) const {
  ends_[static_cast<std::size_t>(how)].add();
  const std::string keys = keys_text(lease.keys);
  const std::string token = lease.token.text();
  if (how == End::kReleased) {
    base::log(base::LogLevel::kInfo, "lease_released", "its holder has given it back",
              {{"key", keys}, {"token", token}, {"holder", lease.holder}});
  } else if (how == End::kExpired) {
    const std::string ttl_ms = count_text(lease.ttl);
    base::log(base::LogLevel::kWarning, "lease_expired", "its holder did not renew it in time",
              {{"key", keys}, {"token", token}, {"holder", lease.holder}, {"ttl_ms", ttl_ms}});
  }
  // A revoke is logged with its reason by whoever ordered it.
}

}  // namespace fenceline::proxy
