#include "proxy/app_routes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "backends/files/files_backend.h"
#include "base/log.h"
#include "config/guarantee.h"
#include "config/loader.h"

namespace fenceline::proxy {
namespace {

using SharedBackend = std::shared_ptr<backends::Backend>;

base::Result<SharedBackend> open_files(const config::Route& route,
                                       const config::FilesBackend& files,
                                       const std::string& ledger_identity, base::WorkerPool& pool) {
  backends::FilesOptions options{.root = files.root, .pool = pool};
  options.sync =
      files.sync == config::Sync::kFull ? backends::SyncMode::kFull : backends::SyncMode::kNone;
  options.ledger_identity = ledger_identity;
  options.on_failure = [name = route.name](const std::string& message) {
    base::log(base::LogLevel::kError, "out_of_service",
              "the route takes no writes until the server is restarted",
              {{"route", name}, {"reason", message}});
  };
  auto opened = backends::open_files_backend(std::move(options));
  if (!opened) {
    return tl::unexpected<base::Error>(std::move(opened.error()));
  }
  return SharedBackend(std::move(*opened));
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
                                             const std::string& ledger_identity,
                                             base::MetricRegistry& registry,
                                             base::WorkerPool& pool) {
  const auto guarantees = config::guarantees(config.routes, config::canonical_path);
  std::map<std::string, SharedBackend> opened;
  std::vector<Route> routes;
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    const config::Route& from = config.routes[i];
    const auto& files = std::get<config::FilesBackend>(from.backend);
    SharedBackend& backend = opened[config::canonical_path(files.root)];
    if (backend == nullptr) {
      auto made = open_files(from, files, ledger_identity, pool);
      if (!made) {
        made.error().detail = fmt::format("route {}: {}", from.name, made.error().detail);
        return tl::unexpected<base::Error>(std::move(made.error()));
      }
      backend = std::move(*made);
    }
    Route route = make_route(from, backend, registry);
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
