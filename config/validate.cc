#include "config/validate.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "config/same_data.h"
#include "config/units.h"

namespace fenceline::config {
namespace {

void check_names_and_matches(const Route& earlier, const Route& later, Report& report) {
  if (earlier.name == later.name) {
    report.add(later.places.name, fmt::format("the route name `{}` is already in line {}",
                                              later.name, earlier.places.name.line));
  }
  const Relation related = relation(later.match, earlier.match);
  if (related == Relation::kEqual) {
    report.add(later.places.match,
               fmt::format("\"{}\" takes the same paths as \"{}\" of route `{}` (line {})",
                           later.match.text(), earlier.match.text(), earlier.name,
                           earlier.places.match.line));
  } else if (related == Relation::kOverlapping) {
    report.add(later.places.match,
               fmt::format("\"{}\" and \"{}\" of route `{}` (line {}) share paths and neither is "
                           "more specific; make one of them so",
                           later.match.text(), earlier.match.text(), earlier.name,
                           earlier.places.match.line));
  }
}

void check_secrets(const Config& config, const std::vector<std::string>& roots,
                   const ResolvePath& resolve, Report& report) {
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const Route& route = config.routes[i];
    if (!config.ledger.sqlite.empty() && is_inside(resolve(config.ledger.sqlite), roots[i])) {
      report.add(
          config.ledger.place,
          fmt::format("the ledger \"{}\" is inside the files root \"{}\" of route `{}` (line "
                      "{}), where clients could overwrite the fence; move one of them",
                      config.ledger.sqlite, roots[i], route.name, route.places.backend.line));
    }
    if (config.listen.tls && is_inside(resolve(config.listen.tls->key), roots[i])) {
      report.add(
          config.listen.place,
          fmt::format("the TLS key \"{}\" is inside the files root \"{}\" of route `{}` (line "
                      "{}), where clients could read it; move one of them",
                      config.listen.tls->key, roots[i], route.name, route.places.backend.line));
    }
  }
}

void check_admin(const Config& config, Report& report) {
  if (!config.admin) {
    return;
  }
  const Endpoint& endpoint = config.admin->endpoint;
  if (!is_loopback(endpoint.address) && !config.admin->token) {
    report.add(config.admin->place,
               fmt::format("the admin listener {} can be reached by other machines and has no "
                           "`admin.token`; set one, or listen on 127.0.0.1",
                           to_string(endpoint)));
  }
  if (endpoint.port != 0 && endpoint == config.listen.endpoint) {
    report.add(config.admin->place,
               fmt::format("the admin listener and `listen` (line {}) are both {}; choose another "
                           "port",
                           config.listen.place.line, to_string(endpoint)));
  }
}

void check_route(const Config& config, const Route& route, const RouteGuarantee& guarantee,
                 Report& report) {
  if (route.takes_writes() && route.body_limit_bytes > config.limits.staged_bytes) {
    report.add(route.places.body_limit,
               fmt::format("route `{}` takes bodies up to {}, more than `limits.staged` ({}) has "
                           "room for; lower `limits.body` of the route or raise the other",
                           route.name, format_size(route.body_limit_bytes),
                           format_size(config.limits.staged_bytes)));
  }
  if (route.require && guarantee.level < *route.require) {
    report.add(route.places.require, fmt::format("route `{}` requires {} but gives {}. {}",
                                                 route.name, to_string(*route.require),
                                                 to_string(guarantee.level), guarantee.reason));
  }
}

}  // namespace

void validate(const Config& config, const ResolvePath& resolve, Report& report) {
  const std::vector<Route>& routes = config.routes;
  const std::vector<RouteGuarantee> given = guarantees(routes, resolve);
  std::vector<std::string> roots;
  roots.reserve(routes.size());
  for (const Route& route : routes) {
    roots.push_back(resolve(std::get<FilesBackend>(route.backend).root));
  }
  for (std::size_t later = 0; later < routes.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      check_names_and_matches(routes[earlier], routes[later], report);
      if (const auto problem =
              same_data_problem(routes[earlier], roots[earlier], routes[later], roots[later])) {
        report.add(routes[later].places.backend, *problem);
      }
    }
    check_route(config, routes[later], given[later], report);
  }
  check_secrets(config, roots, resolve, report);
  check_admin(config, report);
}

}  // namespace fenceline::config
