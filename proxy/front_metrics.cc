#include "proxy/front_metrics.h"

#include <cstdint>
#include <optional>

#include "base/log.h"

namespace fenceline::proxy {
namespace {

// As long as it lasts it happens every 200 ms on every core.
constexpr base::Milliseconds kPauseLines{60'000};

}  // namespace

FrontMetrics::FrontMetrics(base::MetricRegistry& registry, const base::Clock& clock)
    : clock_(clock),
      connections_(registry.gauge("fenceline_connections", "Open connections, all listeners.", {})),
      refused_(registry.counter("fenceline_connections_refused_total",
                                "Connections above limits.connections, answered 503.", {})),
      requests_(registry.counter("fenceline_http_requests_total",
                                 "Requests answered, all listeners, also those refused before "
                                 "they had a route.",
                                 {})),
      cut_off_(registry.counter("fenceline_http_answers_cut_off_total",
                                "Answers that the client did not take to their end.", {})),
      pauses_(registry.counter("fenceline_accept_pauses_total",
                               "Times that no connection could be accepted for a moment.", {})) {}

void FrontMetrics::connection_opened(std::string_view /*listener*/) { connections_.add(1); }

void FrontMetrics::connection_closed(std::string_view /*listener*/) { connections_.add(-1); }

void FrontMetrics::connection_refused(std::string_view /*listener*/) { refused_.add(); }

void FrontMetrics::request_finished(const RequestSummary& summary) {
  requests_.add();
  if (!summary.complete) {
    cut_off_.add();
  }
}

void FrontMetrics::bug(std::string_view where, std::string_view what) {
  base::log(base::LogLevel::kError, "bug", "this must not happen; please report it",
            {{"request", where}, {"what", what}});
}

void FrontMetrics::accept_paused(std::string_view listener, std::string_view reason) {
  pauses_.add();
  std::optional<std::uint64_t> count;
  {
    const std::lock_guard lock(mutex_);
    const auto at = pause_lines_.try_emplace(std::string(listener), kPauseLines).first;
    count = at->second.happened(clock_.now());
  }
  if (count) {
    base::log(base::LogLevel::kError, "accept_paused", "no connection can be accepted for a moment",
              {{"listener", listener}, {"reason", reason}, {"count", std::to_string(*count)}});
  }
}

}  // namespace fenceline::proxy
