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
#include "base/request_id.h"
#include "base/worker_pool.h"
#include "fencing/gate.h"
#include "fencing/sqlite_ledger.h"
#include "proxy/admin.h"
#include "proxy/app_routes.h"
#include "proxy/audit.h"
#include "proxy/front_metrics.h"
#include "proxy/pipeline.h"
#include "proxy/rejections.h"
#include "proxy/server.h"

namespace fenceline::proxy {
namespace {

using base::LogLevel;
using base::Result;

constexpr std::size_t kKeptRejections = 1000;

std::size_t threads_or_cores(unsigned configured) {
  return configured > 0 ? configured : std::max(1U, std::thread::hardware_concurrency());
}

SessionTimeouts session_timeouts(const config::Timeouts& from) {
  SessionTimeouts timeouts;
  timeouts.head = from.head;
  timeouts.body_idle = from.body;
  timeouts.keep_alive_idle = from.keep_alive;
  timeouts.write_idle = from.write;
  return timeouts;
}

class RunningApp final : public App {
 public:
  explicit RunningApp(const config::Config& config)
      : config_(config),
        pool_(threads_or_cores(config.threads.workers)),
        front_metrics_(registry_),
        staged_(config.limits.staged_bytes,
                registry_.gauge("fenceline_staged_bytes",
                                "Bytes of bodies that are staged and not committed.", {})),
        rejections_(kKeptRejections),
        audit_(rejections_) {}

  ~RunningApp() override { stop(); }

  Result<void> start();
  void stop() override;

  [[nodiscard]] std::uint16_t port() const override { return server_->port("public"); }
  [[nodiscard]] std::uint16_t admin_port() const override {
    return config_.admin ? server_->port("admin") : 0;
  }

 private:
  Result<void> open_ledger();
  Result<void> open_backends();
  Result<void> listen();
  [[nodiscard]] ListenerOptions public_listener() const;
  [[nodiscard]] ListenerOptions admin_listener() const;
  [[nodiscard]] std::vector<std::string> not_ready() const;

  // In the order of their use; `stop` ends them in the order that their callbacks need.
  const config::Config config_;
  base::SteadyClock clock_;
  base::RequestIds request_ids_;
  base::MetricRegistry registry_;
  base::WorkerPool pool_;
  FrontMetrics front_metrics_;
  StagedBytes staged_;
  Rejections rejections_;
  Audit audit_;
  std::atomic<bool> ledger_stopped_ = false;    ///< Until restart.
  std::atomic<bool> ledger_struggles_ = false;  ///< The last write failed.
  std::unique_ptr<fencing::Ledger> ledger_;
  std::unique_ptr<fencing::Gate> gate_;
  std::unique_ptr<RouteTable> routes_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Handler> admin_;
  std::unique_ptr<Server> server_;
};

Result<void> RunningApp::start() {
  if (auto opened = open_ledger(); !opened) {
    return opened;
  }
  if (auto opened = open_backends(); !opened) {
    return opened;
  }
  return listen();
}

Result<void> RunningApp::open_ledger() {
  base::Histogram seconds =
      registry_.histogram("fenceline_ledger_commit_seconds",
                          "Time of one durable commit of the ledger.", {}, base::seconds_bounds());
  base::Histogram raises =
      registry_.histogram("fenceline_ledger_commit_raises", "Raises in one commit of the ledger.",
                          {}, base::count_bounds());
  fencing::SqliteLedgerOptions options;
  options.path = config_.ledger.sqlite;
  options.on_commit = [this, seconds, raises](const fencing::LedgerCommit& commit) mutable {
    ledger_struggles_ = false;
    seconds.observe(commit.seconds);
    raises.observe(static_cast<double>(commit.raises));
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
  auto opened = fencing::open_sqlite_ledger(std::move(options));
  if (!opened) {
    return tl::unexpected<base::Error>(std::move(opened.error()));
  }
  ledger_ = std::move(*opened);
  gate_ =
      std::make_unique<fencing::Gate>(*ledger_, fencing::GateOptions{config_.ledger.cache_keys});
  return {};
}

Result<void> RunningApp::open_backends() {
  auto routes = open_routes(config_, ledger_->identity(), registry_, pool_);
  if (!routes) {
    return tl::unexpected<base::Error>(std::move(routes.error()));
  }
  routes_ = std::make_unique<RouteTable>(std::move(*routes));
  for (const Route& route : routes_->routes()) {
    base::log(LogLevel::kInfo, "route", route.guarantee_reason,
              {{"name", route.name},
               {"match", route.pattern.text()},
               {"fence", route.fenced() ? std::string_view(route.fence.text()) : "none"},
               {"guarantee", to_string(route.guarantee)}});
  }
  return {};
}

Result<void> RunningApp::listen() {
  pipeline_ = std::make_unique<Pipeline>(PipelineParts{.routes = *routes_,
                                                       .gate = *gate_,
                                                       .audit = audit_,
                                                       .staged = staged_,
                                                       .clock = clock_,
                                                       .token_fields = config_.token.headers});
  admin_ = make_admin(AdminParts{
      .routes = *routes_,
      .gate = *gate_,
      .ledger = *ledger_,
      .rejections = rejections_,
      .metrics = registry_,
      .bearer_token = config_.admin && config_.admin->token ? *config_.admin->token : std::string(),
      .not_ready = [this] { return not_ready(); }});
  std::vector<ListenerOptions> listeners = {public_listener()};
  if (config_.admin) {
    listeners.push_back(admin_listener());
  }
  ServerOptions options;
  options.cores = threads_or_cores(config_.threads.io);
  auto server = start_server(options, std::move(listeners), clock_, request_ids_, front_metrics_);
  if (!server) {
    return tl::unexpected<base::Error>(std::move(server.error()));
  }
  server_ = std::move(*server);
  base::log(
      LogLevel::kInfo, "serving", "ready for requests",
      {{"listen", fmt::format("{}:{}", config_.listen.endpoint.address, port())},
       {"admin", config_.admin ? fmt::format("{}:{}", config_.admin->endpoint.address, admin_port())
                               : std::string("none")}});
  return {};
}

ListenerOptions RunningApp::public_listener() const {
  ListenerOptions options;
  options.name = "public";
  options.address = config_.listen.endpoint.address;
  options.port = config_.listen.endpoint.port;
  options.handler = pipeline_.get();
  if (config_.listen.tls) {
    options.tls = TlsFiles{config_.listen.tls->certificate, config_.listen.tls->key};
  }
  options.max_connections = config_.limits.connections;
  options.timeouts = session_timeouts(config_.timeouts);
  options.limits.head.max_head_bytes = config_.limits.head_bytes;
  return options;
}

ListenerOptions RunningApp::admin_listener() const {
  ListenerOptions options;
  options.name = "admin";
  options.address = config_.admin->endpoint.address;
  options.port = config_.admin->endpoint.port;
  options.handler = admin_.get();
  options.all_cores = false;
  options.max_connections = 100;
  options.timeouts = session_timeouts(config_.timeouts);
  return options;
}

std::vector<std::string> RunningApp::not_ready() const {
  std::vector<std::string> reasons;
  if (ledger_stopped_) {
    reasons.emplace_back("The ledger has failed and refuses every token until restart.");
  } else if (ledger_struggles_) {
    reasons.emplace_back("The last write of the ledger failed; new tokens are refused.");
  }
  for (const Route& route : routes_->routes()) {
    if (const auto reason = route.backend->out_of_service()) {
      reasons.push_back(fmt::format("route {}: {}", route.name, *reason));
    }
  }
  return reasons;
}

void RunningApp::stop() {
  // `Server::stop` returns when no request is left, so what they waited for is stopped after it.
  if (server_ != nullptr && !server_->stop(config_.timeouts.shutdown)) {
    base::log(LogLevel::kWarning, "cut_off",
              "some requests were not done within timeouts.shutdown and were cut off");
  }
  server_.reset();
  pool_.finish();
  ledger_.reset();
  gate_.reset();
}

}  // namespace

Result<std::unique_ptr<App>> start_app(const config::Config& config) {
  auto app = std::make_unique<RunningApp>(config);
  if (auto started = app->start(); !started) {
    return tl::unexpected<base::Error>(std::move(started.error()));
  }
  return app;
}

}  // namespace fenceline::proxy
