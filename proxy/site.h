#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/metrics.h"
#include "fencing/gate.h"
#include "fencing/intents.h"
#include "fencing/ledger.h"
#include "fencing/source_watch.h"
#include "proxy/audit.h"
#include "proxy/handler.h"
#include "proxy/lease_host.h"
#include "proxy/metered_body.h"
#include "proxy/open_backends.h"
#include "proxy/rejections.h"
#include "proxy/reload.h"
#include "proxy/repeats.h"
#include "proxy/route.h"
#include "proxy/server_options.h"

namespace fenceline::proxy {

/// What there is once in a process, whatever its configuration: one gate, so that a key is one
/// fence for requests under the old configuration and under the new one. Outlives every site.
struct SiteParts {
  fencing::Gate& gate;
  fencing::Ledger& ledger;
  fencing::Intents& intents;
  Audit& audit;
  const Rejections& rejections;
  fencing::SourceWatch& source_watch;
  Repeats& repeats;
  base::MetricRegistry& registry;
  const base::Clock& clock;
  const StagedBytes& staged;  ///< Counts the bytes; each site has its own limit.
  OpenBackends& backends;
  const LeaseHost& leases;  ///< Open if the configuration has `leases`.
  /// Why no token can be confirmed, a sentence each; empty when they can. Thread-safe.
  std::function<std::vector<std::string>()> ledger_trouble;
};

/// Everything that one configuration makes of the server: the routes with their backends, and what
/// answers on the listeners. Immutable while it serves. The listeners' options hold it, so it lives
/// until the last request under it has ended, and lets its files roots go then.
class Site {
 public:
  /// `routes` belong to `config`; see `open_site`.
  Site(ResolvedConfig config, std::uint64_t generation, std::vector<Route> routes,
       const SiteParts& parts);
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  /// Logs `config_ended` if another site has taken over. On whatever thread let go last.
  ~Site();

  [[nodiscard]] const ResolvedConfig& resolved() const { return config_; }
  [[nodiscard]] const config::Config& config() const { return config_.config; }
  [[nodiscard]] const std::vector<Route>& routes() const { return routes_.routes(); }

  /// 1 for the configuration of the start; each reload counts on.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

  /// Another site has taken over. Thread-safe.
  void set_replaced() { replaced_ = true; }

  /// The listeners "public" and, if it is configured, "admin" of `site`, which they own.
  static std::vector<ListenerOptions> listeners(const std::shared_ptr<const Site>& site);

 private:
  [[nodiscard]] std::vector<std::string> not_ready() const;
  [[nodiscard]] ListenerOptions public_listener() const;
  [[nodiscard]] ListenerOptions admin_listener() const;

  const ResolvedConfig config_;
  const std::uint64_t generation_;
  const std::function<std::vector<std::string>()> ledger_trouble_;
  base::Gauge in_use_;
  std::atomic<bool> replaced_ = false;
  const RouteTable routes_;
  StagedBytes staged_;
  std::unique_ptr<Handler> pipeline_;
  std::unique_ptr<Handler> leases_;  ///< Null without `leases`, as the front.
  std::unique_ptr<Handler> front_;
  std::unique_ptr<Handler> admin_;
};

/// Opens what a configuration needs: the backends of its routes.
/// Success: a site that nobody serves yet. Failure: as `open_routes`; a root that was opened for it
/// is let go. Blocks while roots are opened.
base::Result<std::shared_ptr<Site>> open_site(ResolvedConfig config, std::uint64_t generation,
                                              const SiteParts& parts);

}  // namespace fenceline::proxy
