#include "proxy/app_routes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "config/guarantee.h"
#include "config/loader.h"
#include "proxy/backend_options.h"
#include "proxy/route_guarantee.h"

namespace fenceline::proxy {
namespace {

using SharedBackend = std::shared_ptr<backends::Backend>;

std::shared_ptr<const S3Front> s3_front_of(const config::Route& route,
                                           const std::vector<std::string>& token_fields) {
  const auto* s3 = std::get_if<config::S3Backend>(&route.backend);
  return s3 == nullptr
             ? nullptr
             : std::make_shared<S3Front>(S3Paths(route.match, route.hosts),
                                         s3_front_options(*s3, route.writes, token_fields));
}

Route make_route(const config::Route& from, const config::RouteGuarantee& promised,
                 SharedBackend backend, const std::vector<std::string>& token_fields,
                 base::MetricRegistry& registry) {
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
               .idempotency = from.idempotency,
               .backend = std::move(backend),
               .s3 = s3_front_of(from, token_fields),
               .promised = promised,
               .metrics = RouteMetrics(registry, from.name)};
}

base::Result<void> check_required(const config::Route& from, const Route& route) {
  const auto required =
      static_cast<backends::Guarantee>(from.require.value_or(config::Guarantee::kNone));
  const GivenGuarantee given = guarantee_of(route);
  if (given.level >= required) {
    return {};
  }
  return base::fail(
      base::ErrorKind::kStorageFailed,
      fmt::format("route {}: require: {} cannot be met; the route is {}: {}", from.name,
                  to_string(required), to_string(given.level), given.reason));
}

}  // namespace

base::Result<std::vector<Route>> open_routes(const config::Config& config,
                                             const std::vector<std::string>& roots,
                                             OpenBackends& open_backends,
                                             base::MetricRegistry& registry) {
  const auto guarantees = config::guarantees(config.routes, config::canonical_path);
  std::vector<Route> routes;
  for (std::size_t i = 0; i < config.routes.size(); ++i) {
    const config::Route& from = config.routes[i];
    auto backend = open_backends.open(config, from, roots[i]);
    if (!backend) {
      backend.error().detail = fmt::format("route {}: {}", from.name, backend.error().detail);
      return tl::unexpected<base::Error>(std::move(backend.error()));
    }
    routes.push_back(
        make_route(from, guarantees[i], std::move(*backend), config.token.headers, registry));
    if (auto met = check_required(from, routes.back()); !met) {
      return tl::unexpected<base::Error>(std::move(met.error()));
    }
  }
  return routes;
}

}  // namespace fenceline::proxy
