#include "proxy/site.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/log.h"
#include "proxy/admin.h"
#include "proxy/app_routes.h"
#include "proxy/lease_service.h"
#include "proxy/pipeline.h"

namespace fenceline::proxy {
namespace {

SessionTimeouts session_timeouts(const config::Timeouts& from) {
  SessionTimeouts timeouts;
  timeouts.head = from.head;
  timeouts.body_idle = from.body;
  timeouts.keep_alive_idle = from.keep_alive;
  timeouts.write_idle = from.write;
  return timeouts;
}

}  // namespace

Site::Site(ResolvedConfig config, std::uint64_t generation, std::vector<Route> routes,
           const SiteParts& parts)
    : config_(std::move(config)),
      generation_(generation),
      ledger_trouble_(parts.ledger_trouble),
      in_use_(parts.registry.gauge("fenceline_configs_in_use",
                                   "Configurations that requests run under; more than 1 while "
                                   "some that began before a reload have not ended.",
                                   {})),
      routes_(std::move(routes)),
      staged_(config_.config.limits.staged_bytes, parts.staged),
      pipeline_(
          std::make_unique<Pipeline>(PipelineParts{.routes = routes_,
                                                   .gate = parts.gate,
                                                   .intents = parts.intents,
                                                   .audit = parts.audit,
                                                   .staged = staged_,
                                                   .clock = parts.clock,
                                                   .token_fields = config_.config.token.headers,
                                                   .repeats = parts.repeats})) {
  const auto& leases = config_.config.leases;
  if (leases) {
    leases_ = make_lease_service({.lessor = *parts.leases.lessor(),
                                  .audit = parts.leases.audit(),
                                  .intents = parts.intents,
                                  .routes = routes_,
                                  .clock = parts.clock,
                                  .settings = *leases,
                                  .make_id = random_id});
    front_ = make_lease_front(leases->path, *leases_, *pipeline_, routes_);
  }
  const auto& admin = config_.config.admin;
  admin_ = make_admin(AdminParts{
      .routes = routes_,
      .gate = parts.gate,
      .ledger = parts.ledger,
      .intents = parts.intents,
      .rejections = parts.rejections,
      .source_watch = parts.source_watch,
      .clock = parts.clock,
      .metrics = parts.registry,
      .lessor = leases ? parts.leases.lessor() : nullptr,
      .bearer_token = admin && admin->token ? *admin->token : "",
      .not_ready = [this] { return not_ready(); },
      .ready = parts.registry.gauge("fenceline_ready",
                                    "1 while /readyz is 200, else 0: the ledger or a route is "
                                    "out.",
                                    {}),
      .unsettled = parts.registry.gauge("fenceline_unsettled_writes",
                                        "Writes on record whose outcome is unknown.", {})});
  in_use_.add(1);
}

Site::~Site() {
  in_use_.add(-1);
  if (replaced_) {
    base::log(base::LogLevel::kInfo, "config_ended",
              "the last request under an earlier configuration has ended",
              {{"generation", std::to_string(generation_)}});
  }
}

std::vector<std::string> Site::not_ready() const {
  std::vector<std::string> reasons = ledger_trouble_();
  std::set<const backends::Backend*> looked_at;
  for (const Route& route : routes_.routes()) {
    if (const auto reason = route.backend->out_of_service()) {
      reasons.push_back(fmt::format("route {}: {}", route.name, *reason));
    }
    if (!looked_at.insert(route.backend.get()).second) {
      continue;
    }
    if (const auto reason = route.backend->displaced()) {
      reasons.push_back(fmt::format("route {}: {}", route.name, *reason));
    }
  }
  return reasons;
}

std::vector<ListenerOptions> Site::listeners(const std::shared_ptr<const Site>& site) {
  std::vector<ListenerOptions> listeners = {site->public_listener()};
  if (site->config().admin) {
    listeners.push_back(site->admin_listener());
  }
  for (ListenerOptions& each : listeners) {
    each.owner = site;
  }
  return listeners;
}

ListenerOptions Site::public_listener() const {
  const config::Config& from = config();
  ListenerOptions options;
  options.name = "public";
  options.address = from.listen.endpoint.address;
  options.port = from.listen.endpoint.port;
  options.handler = front_ ? front_.get() : pipeline_.get();
  if (from.listen.tls) {
    options.tls = TlsFiles{from.listen.tls->certificate, from.listen.tls->key};
  }
  options.max_connections = from.limits.connections;
  options.timeouts = session_timeouts(from.timeouts);
  options.limits.head.max_head_bytes = from.limits.head_bytes;
  return options;
}

ListenerOptions Site::admin_listener() const {
  const config::Config& from = config();
  ListenerOptions options;
  options.name = "admin";
  options.address = from.admin->endpoint.address;
  options.port = from.admin->endpoint.port;
  options.handler = admin_.get();
  options.all_cores = false;
  options.max_connections = 100;
  options.timeouts = session_timeouts(from.timeouts);
  return options;
}

base::Result<std::shared_ptr<Site>> open_site(ResolvedConfig config, std::uint64_t generation,
                                              const SiteParts& parts) {
  auto routes = open_routes(config.config, config.roots, parts.backends, parts.registry);
  if (!routes) {
    return tl::unexpected<base::Error>(std::move(routes.error()));
  }
  return std::make_shared<Site>(std::move(config), generation, std::move(*routes), parts);
}

}  // namespace fenceline::proxy
