#include "proxy/app_routes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "config/guarantee.h"
#include "config/loader.h"

namespace fenceline::proxy {
namespace {

using SharedBackend = std::shared_ptr<backends::Backend>;

backends::SyncMode sync_of(const config::FilesBackend& files) {
  return files.sync == config::Sync::kFull ? backends::SyncMode::kFull : backends::SyncMode::kNone;
}

base::Result<SharedBackend> open_backend(const config::BackendConfig& from, const std::string& root,
                                         OpenRoots& open_roots) {
  if (const auto* files = std::get_if<config::FilesBackend>(&from)) {
    return open_roots.open(files->root, root, sync_of(*files));
  }
  return base::fail(base::ErrorKind::kStorageFailed,
                    fmt::format("the backend {} is not wired yet", config::kind_of(from)));
}

/// The weaker of what the configuration allows and what the backend found out.
void set_guarantee(Route& route, const config::RouteGuarantee& configured) {
  const backends::Capabilities found = route.backend->capabilities();
  const auto allowed = static_cast<backends::Guarantee>(configured.level);
  route.guarantee = std::min(allowed, found.guarantee);
  route.guarantee_reason = found.guarantee < allowed ? found.assumption : configured.reason;
}
static_assert(static_cast<int>(config::Guarantee::kStrict) ==
                  static_cast<int>(backends::Guarantee::kStrict) &&
              static_cast<int>(config::Guarantee::kBounded) ==
                  static_cast<int>(backends::Guarantee::kBounded) &&
              static_cast<int>(config::Guarantee::kDetect) ==
                  static_cast<int>(backends::Guarantee::kDetect));

Route make_route(const config::Route& from, SharedBackend backend, base::MetricRegistry& registry) {
  return Route{.name = from.name,
               .pattern = from.match,
               .fence = from.fence,
               .allow = fmt::format("{}", fmt::join(from.methods, ", ")),
               .methods = from.methods,
               .writes = from.writes,
               .enforce = from.enforce,
               .max_jump = from.max_jump,
               .max_body_bytes = from.body_limit_bytes,
               .drain = from.drain_timeout,
               .body_idle = from.body_timeout,
               .backend = std::move(backend),
               .guarantee = backends::Guarantee::kNone,
               .guarantee_reason = {},
               .metrics = RouteMetrics(registry, from.name)};
}

}  // namespace

base::Result<std::vector<Route>> open_routes(const config::Config& config,
                                             const std::vector<std::string>& roots,
                                             OpenRoots& open_roots,
                                             base::MetricRegistry& registry) {
  const auto guarantees = config::guarantees(config.routes, config::canonical_path);
  std::vector<Route> routes;
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    const config::Route& from = config.routes[i];
    auto backend = open_backend(from.backend, roots[i], open_roots);
    if (!backend) {
      backend.error().detail = fmt::format("route {}: {}", from.name, backend.error().detail);
      return tl::unexpected<base::Error>(std::move(backend.error()));
    }
    Route route = make_route(from, std::move(*backend), registry);
    set_guarantee(route, guarantees[i]);
    const auto required =
        static_cast<backends::Guarantee>(from.require.value_or(config::Guarantee::kNone));
    if (route.guarantee < required) {
      return base::fail(
          base::ErrorKind::kStorageFailed,
          fmt::format("route {}: require: {} cannot be met; the route is {}: {}", from.name,
                      to_string(required), to_string(route.guarantee), route.guarantee_reason));
    }
    routes.push_back(std::move(route));
  }
  return routes;
}

}  // namespace fenceline::proxy
