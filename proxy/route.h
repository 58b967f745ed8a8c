#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "base/clock.h"
#include "config/config.h"
#include "config/fence_template.h"
#include "config/guarantee.h"
#include "config/pattern.h"
#include "config/pattern_table.h"
#include "proxy/route_metrics.h"
#include "proxy/s3_front.h"

namespace fenceline::proxy {

/// One route as it runs: the validated configuration plus its backend. Immutable while serving.
struct Route {
  std::string name;
  config::Pattern pattern;
  config::FenceTemplate fence;
  std::string allow;  ///< The methods it takes, for `Allow`.
  std::vector<std::string> methods;
  config::Writes writes = config::Writes::kRequired;
  bool enforce = true;        ///< False: decide, log and count, let pass.
  std::int64_t max_jump = 0;  ///< 0: any distance.
  std::uint64_t max_body_bytes = 0;
  base::Milliseconds drain{0};      ///< How long a request may wait for the ledger and the drain.
  base::Milliseconds body_idle{0};  ///< Between two pieces of a body.
  std::optional<config::Idempotency> idempotency = {};
  std::shared_ptr<backends::Backend> backend;
  std::shared_ptr<const S3Front> s3 = {};  ///< Only where the clients speak S3.
  config::RouteGuarantee promised;  ///< As far as the configuration goes; see `guarantee_of`.
  RouteMetrics metrics;

  [[nodiscard]] bool fenced() const { return writes != config::Writes::kOff; }
};

/// All routes of the public listener. Immutable, so any number of threads may look things up.
class RouteTable {
 public:
  /// `routes` must not conflict (`config` has checked that).
  explicit RouteTable(std::vector<Route> routes);
  RouteTable(const RouteTable&) = delete;
  RouteTable& operator=(const RouteTable&) = delete;

  /// The most specific route that takes the path, and what its pattern took in `captures`; null if
  /// none does.
  const Route* find(const config::PathSegments& path, config::Captures& captures) const;

  /// The S3 route of which `host` names a bucket, and where in it the undecoded path points; null
  /// if there is none.
  [[nodiscard]] const Route* find_s3_by_host(std::string_view host, std::string_view path,
                                             S3Place& place) const;

  /// The most specific S3 route that takes the undecoded path, and where in it that points; null if
  /// there is none. Failure: as `S3Paths::by_path`.
  [[nodiscard]] base::Result<const Route*> find_s3_by_path(std::string_view path,
                                                           S3Place& place) const;

  /// True if there is any S3 route.
  [[nodiscard]] bool has_s3() const { return !s3_routes_.empty(); }

  /// The route of this name; null if there is none.
  [[nodiscard]] const Route* named(std::string_view name) const;

  [[nodiscard]] const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
  std::vector<const Route*> s3_routes_;  ///< The most specific first.
  config::PatternTable table_;
};

}  // namespace fenceline::proxy
