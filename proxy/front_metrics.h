#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"
#include "proxy/log_throttle.h"
#include "proxy/server_observer.h"

namespace fenceline::proxy {

/// Counts and logs what the HTTP front reports. Thread-safe. Registry and clock must outlive it.
class FrontMetrics final : public ServerObserver {
 public:
  FrontMetrics(base::MetricRegistry& registry, const base::Clock& clock);

  void connection_opened(std::string_view listener) override;
  void connection_closed(std::string_view listener) override;
  void connection_refused(std::string_view listener) override;
  void request_finished(const RequestSummary& summary) override;
  void bug(std::string_view where, std::string_view what) override;
  void accept_paused(std::string_view listener, std::string_view reason) override;

 private:
  const base::Clock& clock_;
  base::Gauge connections_;
  base::Counter refused_;
  base::Counter requests_;
  base::Counter cut_off_;
  base::Counter pauses_;
  std::mutex mutex_;
  std::map<std::string, LogThrottle, std::less<>> pause_lines_;  ///< By listener.
};

}  // namespace fenceline::proxy
