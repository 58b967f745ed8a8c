#include "proxy/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/process_metrics.h"
#include "base/request_id.h"
#include "base/worker_pool.h"
#include "fencing/gate.h"
#include "fencing/intents.h"
#include "fencing/source_watch.h"
#include "fencing/sqlite_ledger.h"
#include "proxy/audit.h"
#include "proxy/front_metrics.h"
#include "proxy/lease_host.h"
#include "proxy/open_backends.h"
#include "proxy/rejections.h"
#include "proxy/reload.h"
#include "proxy/reload_report.h"
#include "proxy/repeats.h"
#include "proxy/route_guarantee.h"
#include "proxy/server.h"
#include "proxy/site.h"

namespace fenceline::proxy {
namespace {

using base::LogLevel;
using base::Result;

constexpr std::size_t kKeptRejections = 1000;

std::size_t threads_or_cores(unsigned configured) {
  return configured > 0 ? configured : std::max(1U, std::thread::hardware_concurrency());
}

class RunningApp final : public App {
 public:
  explicit RunningApp(const config::Config& config)
      : ledger_config_(config.ledger),
        pool_(threads_or_cores(config.threads.workers)),
        front_metrics_(registry_, clock_),
        report_(registry_),
        staged_(config.limits.staged_bytes,
                registry_.gauge("fenceline_staged_bytes",
                                "Bytes of bodies that are staged and not committed.", {})),
        rejections_(kKeptRejections),
        source_watch_(fencing::SourceWatchOptions()),
        audit_(rejections_, source_watch_, clock_),
        leases_(registry_) {}

  ~RunningApp() override { stop(); }

  Result<void> start(const config::Config& config);
  bool reload(config::Loaded loaded, const std::string& file) override;
  void stop() override;

  [[nodiscard]] std::uint16_t port() const override { return server_->port("public"); }
  [[nodiscard]] std::uint16_t admin_port() const override { return server_->port("admin"); }

 private:
  Result<void> open_ledger();
  Result<void> open_leases(const config::Config& config);
  [[nodiscard]] SiteParts site_parts();
  [[nodiscard]] std::vector<std::string> ledger_trouble() const;
  [[nodiscard]] std::vector<std::string> take(config::Config config, const std::string& file);
  [[nodiscard]] std::vector<std::shared_ptr<const Site>> earlier_sites();
  void log_routes(const ReloadPlan* only) const;
  [[nodiscard]] std::string listen_text() const;
  [[nodiscard]] std::string admin_text() const;

  // In the order of their use; `stop` ends them in the order that their callbacks need.
  const config::LedgerConfig ledger_config_;
  base::SteadyClock clock_;
  base::RequestIds request_ids_;
  base::MetricRegistry registry_;
  base::WorkerPool pool_;
  FrontMetrics front_metrics_;
  ReloadReport report_;
  StagedBytes staged_;
  Rejections rejections_;
  fencing::SourceWatch source_watch_;
  Audit audit_;
  std::atomic<bool> ledger_stopped_ = false;    ///< Until restart.
  std::atomic<bool> ledger_struggles_ = false;  ///< The last write failed.
  std::unique_ptr<fencing::Ledger> ledger_;
  std::unique_ptr<fencing::Intents> intents_;
  std::unique_ptr<fencing::Gate> gate_;
  std::unique_ptr<Repeats> repeats_;
  LeaseHost leases_;
  std::unique_ptr<OpenBackends> backends_;
  std::shared_ptr<Site> site_;                      ///< That new requests follow.
  std::vector<std::weak_ptr<const Site>> earlier_;  ///< Those before it.
  std::unique_ptr<Server> server_;
};

Result<void> RunningApp::start(const config::Config& config) {
  if (auto opened = open_ledger(); !opened) {
    return opened;
  }
  if (auto opened = open_leases(config); !opened) {
    return opened;
  }
  backends_ = std::make_unique<OpenBackends>(ledger_->identity(), registry_, pool_);
  auto site = open_site(resolved(config, config::canonical_path), 1, site_parts());
  if (!site) {
    return tl::unexpected<base::Error>(std::move(site.error()));
  }
  site_ = std::move(*site);
  base::add_process_metrics(registry_);
  log_routes(nullptr);
  ServerOptions options;
  options.cores = threads_or_cores(config.threads.io);
  options.upkeep = [this] { return intents_->sweep(); };
  auto server = start_server(options, Site::listeners(site_), clock_, request_ids_, front_metrics_);
  if (!server) {
    return tl::unexpected<base::Error>(std::move(server.error()));
  }
  server_ = std::move(*server);
  report_.started();
  base::log(LogLevel::kInfo, "serving", "ready for requests",
            {{"listen", listen_text()}, {"admin", admin_text()}});
  return {};
}

Result<void> RunningApp::open_ledger() {
  base::Histogram seconds =
      registry_.histogram("fenceline_ledger_commit_seconds",
                          "Time of one durable commit of the ledger.", {}, base::seconds_bounds());
  base::Histogram raises =
      registry_.histogram("fenceline_ledger_commit_raises", "Raises in one commit of the ledger.",
                          {}, base::count_bounds());
  fencing::SqliteLedgerOptions options;
  options.path = ledger_config_.sqlite;
  options.on_commit = [this, seconds, raises](const fencing::LedgerCommit& commit) mutable {
    ledger_struggles_ = false;
    seconds.observe(commit.seconds);
    if (commit.raises > 0) {
      raises.observe(static_cast<double>(commit.raises));
    }
  };
  options.on_failure = [this](const fencing::LedgerFailure& failure) {
    base::log(LogLevel::kError, "ledger_failed",
              failure.until_restart ? "no token can be confirmed until the server is restarted"
                                    : "tokens cannot be confirmed for now",
              {{"reason", failure.text}});
    ledger_struggles_ = true;
    if (failure.until_restart) {
      ledger_stopped_ = true;
    }
  };
  options.on_no_marks = [](const std::string& path) {
    base::log(LogLevel::kWarning, "new_ledger", "no marks are known: every token passes once",
              {{"ledger", path}});
  };
  options.on_upgraded = [](const std::string& path, int from, int to) {
    base::log(LogLevel::kInfo, "ledger_upgraded",
              "the ledger has a newer format now; an older version refuses it",
              {{"ledger", path}, {"from", std::to_string(from)}, {"to", std::to_string(to)}});
  };
  auto opened = fencing::open_sqlite_ledger(std::move(options));
  if (!opened) {
    return tl::unexpected<base::Error>(std::move(opened.error()));
  }
  ledger_ = std::move(*opened);
  intents_ = std::make_unique<fencing::Intents>(*ledger_, clock_);
  if (auto loaded = intents_->load(); !loaded) {
    return loaded;
  }
  if (intents_->any_unsettled()) {
    base::log(LogLevel::kWarning, "unsettled_writes",
              "writes of before the start may still take effect; newer tokens settle them first",
              {{"writes", std::to_string(intents_->unsettled_count())}});
  }
  repeats_ = std::make_unique<Repeats>(*ledger_->answers());
  gate_ = std::make_unique<fencing::Gate>(
      *ledger_, fencing::GateOptions{.max_cached_keys = ledger_config_.cache_keys,
                                     .unsettled_on_record = [this](const base::FenceKey& key) {
                                       std::vector<base::Token> tokens;
                                       for (const auto& each : intents_->unsettled_of(key)) {
                                         tokens.push_back(each.intent.token);
                                       }
                                       return tokens;
                                     }});
  return {};
}

Result<void> RunningApp::open_leases(const config::Config& config) {
  return config.leases ? leases_.open(*config.leases, *ledger_, *gate_) : Result<void>();
}

SiteParts RunningApp::site_parts() {
  return {.gate = *gate_,
          .ledger = *ledger_,
          .intents = *intents_,
          .audit = audit_,
          .rejections = rejections_,
          .source_watch = source_watch_,
          .repeats = *repeats_,
          .registry = registry_,
          .clock = clock_,
          .staged = staged_,
          .backends = *backends_,
          .leases = leases_,
          .ledger_trouble = [this] { return ledger_trouble(); }};
}

std::vector<std::string> RunningApp::ledger_trouble() const {
  if (ledger_stopped_) {
    return {"The ledger has failed and refuses every token until restart."};
  }
  if (ledger_struggles_) {
    return {"The last write of the ledger failed; new tokens are refused."};
  }
  return {};
}

/// The routes of the site, with `only` those that this reload has added or changed.
void RunningApp::log_routes(const ReloadPlan* only) const {
  for (const Route& route : site_->routes()) {
    const bool is_new = only == nullptr || std::ranges::count(only->added, route.name) > 0 ||
                        std::ranges::count(only->changed, route.name) > 0;
    if (is_new) {
      const GivenGuarantee given = guarantee_of(route);
      base::log(LogLevel::kInfo, "route", given.reason,
                {{"name", route.name},
                 {"match", route.pattern.text()},
                 {"fence", route.fenced() ? std::string_view(route.fence.text()) : "none"},
                 {"guarantee", to_string(given.level)}});
    }
  }
}

std::string RunningApp::listen_text() const {
  return config::to_string(config::Endpoint{site_->config().listen.endpoint.address, port()});
}

std::string RunningApp::admin_text() const {
  const auto& admin = site_->config().admin;
  return admin ? config::to_string(config::Endpoint{admin->endpoint.address, admin_port()})
               : "none";
}

std::vector<std::shared_ptr<const Site>> RunningApp::earlier_sites() {
  std::erase_if(earlier_, [](const auto& site) { return site.expired(); });
  std::vector<std::shared_ptr<const Site>> sites;
  for (const auto& each : earlier_) {
    if (auto site = each.lock()) {
      sites.push_back(std::move(site));
    }
  }
  return sites;
}

bool RunningApp::reload(config::Loaded loaded, const std::string& file) {
  std::vector<std::string> problems;
  if (loaded) {
    problems = take(std::move(*loaded), file);
  } else {
    for (const config::Problem& problem : loaded.error()) {
      problems.push_back(to_string(problem));
    }
  }
  if (!problems.empty()) {
    report_.failed(file, problems);
  }
  return problems.empty();
}

/// Why the configuration was not taken; empty if it was.
std::vector<std::string> RunningApp::take(config::Config config, const std::string& file) {
  ResolvedConfig wanted = resolved(std::move(config), config::canonical_path);
  ReloadPlan plan;
  {
    const auto earlier = earlier_sites();
    std::vector<const ResolvedConfig*> served;
    served.reserve(earlier.size());
    for (const auto& site : earlier) {
      served.push_back(&site->resolved());
    }
    plan = plan_reload(site_->resolved(), served, wanted);
  }
  std::vector<std::string> problems;
  for (const Refusal& each : plan.refused) {
    problems.push_back(
        to_string(config::Problem{file, each.place.line, each.place.column, each.message}));
  }
  if (!problems.empty()) {
    return problems;
  }
  if (auto opened = open_leases(wanted.config); !opened) {
    return {opened.error().detail};
  }
  auto site = open_site(std::move(wanted), site_->generation() + 1, site_parts());
  if (!site) {
    return {site.error().detail};
  }
  auto switched = server_->replace_listeners(Site::listeners(*site));
  if (!switched) {
    return {switched.error().detail};
  }
  // Kept for the lines that follow, so that `config_ended` comes after them.
  const std::shared_ptr<Site> old = std::exchange(site_, std::move(*site));
  old->set_replaced();
  earlier_.push_back(old);
  if (site_->config().leases) {
    leases_.set_limits(*site_->config().leases);
  }
  log_routes(&plan);
  report_.succeeded({plan, site_->generation(), listen_text(), admin_text()});
  return {};
}

void RunningApp::stop() {
  // Who waits for a lease would wait on.
  leases_.close();
  // `Server::stop` returns when no request is left, so what they waited for is stopped after it.
  if (server_ != nullptr && !server_->stop(site_->config().timeouts.shutdown)) {
    base::log(LogLevel::kWarning, "cut_off",
              "some requests were not done within timeouts.shutdown and were cut off");
  }
  server_.reset();
  site_.reset();
  pool_.finish();
  leases_.stop_timer();
  if (intents_ != nullptr) {
    intents_->close();
  }
  ledger_.reset();
  leases_.end();
  gate_.reset();
  intents_.reset();
}

}  // namespace

Result<std::unique_ptr<App>> start_app(const config::Config& config) {
  auto app = std::make_unique<RunningApp>(config);
  if (auto started = app->start(config); !started) {
    return tl::unexpected<base::Error>(std::move(started.error()));
  }
  return app;
}

}  // namespace fenceline::proxy
