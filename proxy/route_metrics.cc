#include "proxy/route_metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace fenceline::proxy {
namespace {

using base::ErrorKind;

/// Everything the fence can refuse a request for.
constexpr std::array kReasons = {ErrorKind::kStaleToken,       ErrorKind::kHolderConflict,
                                 ErrorKind::kTokenTooFarAhead, ErrorKind::kTokenRequired,
                                 ErrorKind::kMalformedToken,   ErrorKind::kDraining,
                                 ErrorKind::kLedgerUnavailable};

}  // namespace

RouteMetrics::RouteMetrics(base::MetricRegistry& registry, const std::string& route)
    : takeovers_(registry.counter("fenceline_takeovers_total",
                                  "Admissions under a token higher than all before.",
                                  {{"route", route}})),
      source_resets_(
          registry.counter("fenceline_source_reset_suspected_total",
                           "Times that refused tokens looked as if their source had been reset.",
                           {{"route", route}})),
      enter_wait_(registry.histogram("fenceline_enter_wait_seconds",
                                     "Time that requests waited for a durable mark and for older "
                                     "commits; requests that did not wait are not counted.",
                                     {{"route", route}}, base::seconds_bounds())) {
  for (int hundreds = 1; hundreds <= 5; ++hundreds) {
    requests_.push_back(
        registry.counter("fenceline_requests_total", "Answered requests by class of status code.",
                         {{"route", route}, {"code", fmt::format("{}xx", hundreds)}}));
  }
  for (const ErrorKind reason : kReasons) {
    for (const bool enforced : {true, false}) {
      rejections_.push_back(registry.counter(
          "fenceline_rejections_total",
          "Requests that the fence refused (enforced=true) or would have refused (false).",
          {{"route", route},
           {"reason", std::string(name_of(reason))},
           {"enforced", enforced ? "true" : "false"}}));
    }
  }
}

void RouteMetrics::answered(int status) const {
  const int hundreds = std::clamp(status / 100, 1, 5);
  requests_[static_cast<std::size_t>(hundreds - 1)].add();
}

void RouteMetrics::rejected(ErrorKind reason, bool enforced) const {
  const auto* const found = std::ranges::find(kReasons, reason);
  if (found != kReasons.end()) {
    const auto index = static_cast<std::size_t>(found - kReasons.begin());
    rejections_[2 * index + (enforced ? 0 : 1)].add();
  }
}

}  // namespace fenceline::proxy
