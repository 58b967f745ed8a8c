#pragma once

#include <string_view>

#include "base/metrics.h"
#include "proxy/server_observer.h"

namespace fenceline::proxy {

/// Counts and logs what the HTTP front reports. Thread-safe. The registry must outlive it.
class FrontMetrics final : public ServerObserver {
 public:
  explicit FrontMetrics(base::MetricRegistry& registry);

  void connection_opened(std::string_view listener) override;
  void connection_closed(std::string_view listener) override;
  void connection_refused(std::string_view listener) override;
  void request_finished(const RequestSummary& summary) override;
  void bug(std::string_view where, std::string_view what) override;
  void accept_paused(std::string_view listener, std::string_view reason) override;

 private:
  base::Gauge connections_;
  base::Counter refused_;
  base::Counter requests_;
  base::Counter cut_off_;
};

}  // namespace fenceline::proxy
