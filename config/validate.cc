#include "config/validate.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
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

bool is_or_is_below(std::string_view host, std::string_view other) {
  return host == other || (host.ends_with(other) && host[host.size() - other.size() - 1] == '.');
}

/// Nobody could tell whose bucket the first label of such a host is.
void check_hosts(const Route& earlier, const Route& later, Report& report) {
  for (const std::string& host : later.hosts) {
    for (const std::string& other : earlier.hosts) {
      if (is_or_is_below(host, other) || is_or_is_below(other, host)) {
        report.add(later.places.hosts,
                   fmt::format("the host \"{}\" is that of route `{}` (line {}), \"{}\", or one is "
                               "below the other; give each route hosts of its own",
                               host, earlier.name, earlier.places.hosts.line, other));
      }
    }
  }
}

/// Clients write below a files root, so nothing of ours may be there.
void check_files_root(const Config& config, const Route& route, const std::string& root,
                      const ResolvePath& resolve, Report& report) {
  if (!config.ledger.sqlite.empty() && is_inside(resolve(config.ledger.sqlite), root)) {
    report.add(config.ledger.place,
               fmt::format("the ledger \"{}\" is inside the files root \"{}\" of route `{}` (line "
                           "{}), where clients could overwrite the fence; move one of them",
                           config.ledger.sqlite, root, route.name, route.places.backend.line));
  }
  if (config.listen.tls && is_inside(resolve(config.listen.tls->key), root)) {
    report.add(config.listen.place,
               fmt::format("the TLS key \"{}\" is inside the files root \"{}\" of route `{}` (line "
                           "{}), where clients could read it; move one of them",
                           config.listen.tls->key, root, route.name, route.places.backend.line));
  }
}

void check_database(const Config& config, const std::vector<std::string>& stores, std::size_t index,
                    const ResolvePath& resolve, Report& report) {
  const Route& route = config.routes[index];
  const std::string& database = stores[index];
  if (!config.ledger.sqlite.empty() && resolve(config.ledger.sqlite) == database) {
    report.add(route.places.backend,
               fmt::format("the database \"{}\" is the ledger (line {}), which belongs to this "
                           "server alone; use another file",
                           database, config.ledger.place.line));
  }
  for (std::size_t i = 0; i < stores.size(); ++i) {
    const Route& other = config.routes[i];
    if (std::holds_alternative<FilesBackend>(other.backend) && is_inside(database, stores[i])) {
      report.add(route.places.backend,
                 fmt::format("the database \"{}\" is inside the files root \"{}\" of route `{}` "
                             "(line {}), where clients could overwrite it; move one of them",
                             database, stores[i], other.name, other.places.backend.line));
    }
  }
}

void check_stores(const Config& config, const std::vector<std::string>& stores,
                  const ResolvePath& resolve, Report& report) {
  for (std::size_t i = 0; i < stores.size(); ++i) {
    const Route& route = config.routes[i];
    if (std::holds_alternative<FilesBackend>(route.backend)) {
      check_files_root(config, route, stores[i], resolve, report);
    } else if (std::holds_alternative<SqliteBackend>(route.backend)) {
      check_database(config, stores, i, resolve, report);
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

void check_lease_limits(const Leases& leases, Report& report) {
  const auto check = [&leases, &report](std::string_view low, base::Milliseconds low_value,
                                        std::string_view high, base::Milliseconds high_value) {
    if (low_value > high_value) {
      report.add(leases.place,
                 fmt::format("`leases.{}` ({}) is above `leases.{}` ({}); lower the one or raise "
                             "the other",
                             low, format_duration(low_value), high, format_duration(high_value)));
    }
  };
  check("min_ttl", leases.min_ttl, "max_ttl", leases.max_ttl);
  check("lock_delay", leases.lock_delay, "max_lock_delay", leases.max_lock_delay);
}

/// Which of the two such a path is for must not depend on who is asked first.
void check_leases(const Leases& leases, const Route& route, Report& report) {
  for (const std::string_view below : {"", "/{key...}"}) {
    const auto taken = Pattern::parse(leases.path + std::string(below));
    if (taken && relation(route.match, *taken) != Relation::kDisjoint) {
      report.add(leases.place,
                 fmt::format("the paths of the lease service, \"{}\" and all below it, are also "
                             "taken by \"{}\" of route `{}` (line {}); give one of them another",
                             leases.path, route.match.text(), route.name, route.places.match.line));
      return;
    }
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
  const std::vector<std::string> stores = stores_of(routes, resolve);
  for (std::size_t later = 0; later < routes.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      check_names_and_matches(routes[earlier], routes[later], report);
      check_hosts(routes[earlier], routes[later], report);
      if (const auto problem =
              same_data_problem(routes[earlier], stores[earlier], routes[later], stores[later])) {
        report.add(routes[later].places.backend, *problem);
      }
    }
    check_route(config, routes[later], given[later], report);
    if (config.leases) {
      check_leases(*config.leases, routes[later], report);
    }
  }
  check_stores(config, stores, resolve, report);
  check_admin(config, report);
  if (config.leases) {
    check_lease_limits(*config.leases, report);
  }
}

}  // namespace fenceline::config
