#include "proxy/reload.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "config/same_data.h"

namespace fenceline::proxy {
namespace {

using config::Config;
using config::Route;

/// Collects the keys whose values differ.
class Differences {
 public:
  explicit Differences(std::vector<std::string>& keys) : keys_(keys) {}

  template <typename Value>
  void compare(std::string_view key, const Value& running, const Value& wanted) {
    if (!(running == wanted)) {
      keys_.emplace_back(key);
    }
  }

 private:
  std::vector<std::string>& keys_;
};

std::pair<std::string, std::string> tls_text(const config::Listen& listen) {
  return listen.tls ? std::pair(listen.tls->certificate, listen.tls->key)
                    : std::pair(std::string(), std::string());
}

std::string admin_endpoint(const std::optional<config::Admin>& admin) {
  return admin ? to_string(admin->endpoint) : "none";
}

std::string admin_token(const std::optional<config::Admin>& admin) {
  return admin ? admin->token.value_or(std::string()) : std::string();
}

void compare_leases(const config::Leases& running, const config::Leases& wanted,
                    Differences& differences) {
  differences.compare("leases.path", running.path, wanted.path);
  differences.compare("leases.token", running.token, wanted.token);
  differences.compare("leases.min_ttl", running.min_ttl, wanted.min_ttl);
  differences.compare("leases.max_ttl", running.max_ttl, wanted.max_ttl);
  differences.compare("leases.max_wait", running.max_wait, wanted.max_wait);
  differences.compare("leases.lock_delay", running.lock_delay, wanted.lock_delay);
  differences.compare("leases.max_lock_delay", running.max_lock_delay, wanted.max_lock_delay);
  differences.compare("leases.max_leases", running.max_leases, wanted.max_leases);
  differences.compare("leases.max_waiters", running.max_waiters, wanted.max_waiters);
  differences.compare("leases.drain", running.drain, wanted.drain);
}

std::vector<std::string> changed_settings(const Config& running, const Config& wanted) {
  std::vector<std::string> keys;
  Differences differences(keys);
  differences.compare("listen.address", running.listen.endpoint, wanted.listen.endpoint);
  differences.compare("listen.tls", tls_text(running.listen), tls_text(wanted.listen));
  differences.compare("admin.listen", admin_endpoint(running.admin), admin_endpoint(wanted.admin));
  differences.compare("admin.token", admin_token(running.admin), admin_token(wanted.admin));
  differences.compare("token.headers", running.token.headers, wanted.token.headers);
  differences.compare("limits.head", running.limits.head_bytes, wanted.limits.head_bytes);
  differences.compare("limits.connections", running.limits.connections, wanted.limits.connections);
  differences.compare("limits.staged", running.limits.staged_bytes, wanted.limits.staged_bytes);
  differences.compare("timeouts.head", running.timeouts.head, wanted.timeouts.head);
  differences.compare("timeouts.body", running.timeouts.body, wanted.timeouts.body);
  differences.compare("timeouts.keep_alive", running.timeouts.keep_alive,
                      wanted.timeouts.keep_alive);
  differences.compare("timeouts.write", running.timeouts.write, wanted.timeouts.write);
  differences.compare("timeouts.drain", running.timeouts.drain, wanted.timeouts.drain);
  differences.compare("timeouts.shutdown", running.timeouts.shutdown, wanted.timeouts.shutdown);
  differences.compare("log.level", running.log.level, wanted.log.level);
  differences.compare("leases", running.leases.has_value(), wanted.leases.has_value());
  if (running.leases && wanted.leases) {
    compare_leases(*running.leases, *wanted.leases, differences);
  }
  return keys;
}

bool same_route(const Route& first, const std::string& first_root, const Route& second,
                const std::string& second_root) {
  return first.match.text() == second.match.text() && first.hosts == second.hosts &&
         first.fence.text() == second.fence.text() && first.methods == second.methods &&
         first.writes == second.writes && first.enforce == second.enforce &&
         first.max_jump == second.max_jump && first.require == second.require &&
         first.body_limit_bytes == second.body_limit_bytes &&
         first.body_timeout == second.body_timeout && first.drain_timeout == second.drain_timeout &&
         first.idempotency == second.idempotency &&
         config::same_backend(first, first_root, second, second_root);
}

std::optional<std::size_t> index_of(const std::vector<Route>& routes, const std::string& name) {
  const auto found = std::ranges::find(routes, name, &Route::name);
  if (found == routes.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - routes.begin());
}

void compare_routes(const ResolvedConfig& running, const ResolvedConfig& wanted, ReloadPlan& plan) {
  const std::vector<Route>& before = running.config.routes;
  const std::vector<Route>& after = wanted.config.routes;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const auto old = index_of(before, after[i].name);
    if (!old) {
      plan.added.push_back(after[i].name);
    } else if (!same_route(before[*old], running.roots[*old], after[i], wanted.roots[i])) {
      plan.changed.push_back(after[i].name);
    }
  }
  for (const Route& route : before) {
    if (!index_of(after, route.name)) {
      plan.removed.push_back(route.name);
    }
  }
}

void refuse_process_settings(const ResolvedConfig& running, const ResolvedConfig& wanted,
                             std::vector<Refusal>& refused) {
  std::vector<std::string> keys;
  Differences differences(keys);
  const Config& before = running.config;
  const Config& after = wanted.config;
  differences.compare("ledger.sqlite", running.ledger, wanted.ledger);
  differences.compare("ledger.cache_keys", before.ledger.cache_keys, after.ledger.cache_keys);
  for (const std::string& key : std::exchange(keys, {})) {
    refused.push_back({after.ledger.place,
                       fmt::format("`{}` has changed, which needs a restart: one process has one "
                                   "ledger",
                                   key)});
  }
  differences.compare("threads.io", before.threads.io, after.threads.io);
  differences.compare("threads.workers", before.threads.workers, after.threads.workers);
  differences.compare("log.format", before.log.format, after.log.format);
  for (const std::string& key : keys) {
    refused.push_back({{}, fmt::format("`{}` has changed, which needs a restart", key)});
  }
}

/// True if the system lets nobody listen on one of them while somebody listens on the other.
bool exclude_each_other(const config::Endpoint& first, const config::Endpoint& second) {
  const auto is_v6 = [](const std::string& address) { return address.find(':') < address.size(); };
  const auto is_any = [](const std::string& address) {
    return address == "0.0.0.0" || address == "::";
  };
  return first.port == second.port && first.port != 0 &&
         is_v6(first.address) == is_v6(second.address) &&
         (first.address == second.address || is_any(first.address) || is_any(second.address));
}

/// The new sockets are opened beside the old ones, so that no client is turned away.
void refuse_taken_endpoints(const Config& running, const Config& wanted,
                            std::vector<Refusal>& refused) {
  using Endpoints = std::vector<std::pair<config::Endpoint, config::Place>>;
  const auto endpoints = [](const Config& from) {
    Endpoints all{{from.listen.endpoint, from.listen.place}};
    if (from.admin) {
      all.emplace_back(from.admin->endpoint, from.admin->place);
    }
    return all;
  };
  const Endpoints before = endpoints(running);
  const Endpoints after = endpoints(wanted);
  for (std::size_t i = 0; i < after.size(); ++i) {
    for (std::size_t k = 0; k < before.size(); ++k) {
      const bool stays = i == k && after[i].first == before[k].first;
      if (!stays && exclude_each_other(after[i].first, before[k].first)) {
        refused.push_back(
            {after[i].second, fmt::format("{} cannot be opened while this server listens on {}, "
                                          "which needs a restart",
                                          to_string(after[i].first), to_string(before[k].first))});
      }
    }
  }
}

/// Why requests under `old` must not run beside requests under `next`; nothing if they may.
std::optional<std::string> clash(const Route& old, const std::string& old_root, const Route& next,
                                 const std::string& next_root) {
  const bool nobody_writes = !old.takes_writes() && !next.takes_writes();
  const auto conflict =
      nobody_writes ? std::nullopt : config::data_conflict(old, old_root, next, next_root);
  if (!conflict) {
    return std::nullopt;
  }
  switch (conflict->kind) {
    case config::DataConflict::Kind::kNested:
      return fmt::format("{} and \"{}\", which is open for route `{}`, are inside one another",
                         conflict->store, old_root, old.name);
    case config::DataConflict::Kind::kSetting:
      return fmt::format("`{}` of {} differs from that of route `{}`, for which it is open",
                         conflict->setting, conflict->store, old.name);
    case config::DataConflict::Kind::kFence:
      break;
  }
  return fmt::format(
      "the fence of {} would be \"{}\", where writes of route `{}` hold \"{}\"; those that run "
      "would not be stopped by a newer token",
      conflict->store, next.fence.text(), old.name, old.fence.text());
}

void refuse_clashes(const ResolvedConfig& served, std::string_view what_to_do,
                    const ResolvedConfig& wanted, std::vector<Refusal>& refused) {
  const std::vector<Route>& routes = wanted.config.routes;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    for (std::size_t k = 0; k < served.config.routes.size(); ++k) {
      const auto reason =
          clash(served.config.routes[k], served.roots[k], routes[i], wanted.roots[i]);
      if (reason) {
        refused.push_back({routes[i].places.route,
                           fmt::format("route `{}`: {}; {}", routes[i].name, *reason, what_to_do)});
        break;
      }
    }
  }
}

}  // namespace

ResolvedConfig resolved(Config config, const config::ResolvePath& resolve) {
  ResolvedConfig result;
  result.ledger = resolve(config.ledger.sqlite);
  result.roots = config::stores_of(config.routes, resolve);
  result.config = std::move(config);
  return result;
}

ReloadPlan plan_reload(const ResolvedConfig& running,
                       std::span<const ResolvedConfig* const> earlier,
                       const ResolvedConfig& wanted) {
  ReloadPlan plan;
  refuse_process_settings(running, wanted, plan.refused);
  refuse_taken_endpoints(running.config, wanted.config, plan.refused);
  refuse_clashes(running, "restart the server for this", wanted, plan.refused);
  for (const ResolvedConfig* served : earlier) {
    refuse_clashes(*served,
                   "requests still run under an earlier configuration: reload again when they "
                   "have ended, or restart",
                   wanted, plan.refused);
  }
  compare_routes(running, wanted, plan);
  plan.settings = changed_settings(running.config, wanted.config);
  return plan;
}

}  // namespace fenceline::proxy
