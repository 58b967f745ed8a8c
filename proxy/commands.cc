#include "proxy/commands.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "config/aws_credentials.h"
#include "config/guarantee.h"
#include "config/loader.h"
#include "proxy/app.h"
#include "proxy/signals.h"
#include "proxy/tls_transport.h"

namespace fenceline::proxy {
namespace {

std::optional<std::string> problem_with_authorities(const config::UpstreamSettings& upstream,
                                                    std::string_view kind) {
  std::error_code ignored;
  const auto& ca = upstream.tls.ca;
  return !ca || std::filesystem::is_regular_file(*ca, ignored)
             ? std::nullopt
             : std::optional(fmt::format("{}.tls.ca: {} is not a file", kind, *ca));
}

std::optional<std::string> problem_with_store(const config::BackendConfig& backend) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (const auto* files = std::get_if<config::FilesBackend>(&backend)) {
    if (fs::exists(files->root, ignored) && !fs::is_directory(files->root, ignored)) {
      return fmt::format("the files root {} is not a directory", files->root);
    }
  } else if (const auto* sqlite = std::get_if<config::SqliteBackend>(&backend)) {
    if (fs::exists(sqlite->database, ignored) && !fs::is_regular_file(sqlite->database, ignored)) {
      return fmt::format("the database {} is not a file", sqlite->database);
    }
  } else if (const auto* http = std::get_if<config::HttpBackend>(&backend)) {
    return problem_with_authorities(*http, "http");
  } else {
    const auto& s3 = std::get<config::S3Backend>(backend);
    if (auto problem = problem_with_authorities(s3, "s3")) {
      return problem;
    }
    if (s3.credentials) {
      const auto keys = config::resolve_credentials(*s3.credentials, config::process_environment);
      return keys ? std::nullopt : std::optional(fmt::format("s3.credentials: {}", keys.error()));
    }
  }
  return std::nullopt;
}

/// Looks at the files that the configuration names, as far as that changes nothing.
bool can_be_opened(const config::Config& config) {
  bool right = true;
  const auto complain = [&right](const std::string& sentence) {
    fmt::print(stderr, "fenceline: {}\n", sentence);
    right = false;
  };
  if (config.listen.tls) {
    const auto tls =
        load_tls_context(TlsFiles{config.listen.tls->certificate, config.listen.tls->key});
    if (!tls) {
      complain(fmt::format("listen.tls: {}", tls.error().detail));
    }
  }
  for (const config::Route& route : config.routes) {
    if (const auto problem = problem_with_store(route.backend)) {
      complain(fmt::format("route {}: {}", route.name, *problem));
    }
  }
  return right;
}

base::LogLevel to_base(config::LogLevel level) {
  switch (level) {
    case config::LogLevel::kDebug:
      return base::LogLevel::kDebug;
    case config::LogLevel::kInfo:
      return base::LogLevel::kInfo;
    case config::LogLevel::kWarn:
      return base::LogLevel::kWarning;
    case config::LogLevel::kError:
      break;
  }
  return base::LogLevel::kError;
}

void reload(App& app, const std::string& config_file) {
  auto loaded = config::load_file(config_file);
  const base::LogLevel level = loaded ? to_base(loaded->log.level) : base::LogLevel::kInfo;
  if (app.reload(std::move(loaded), config_file)) {
    base::set_log_level(level);
  }
}

/// Reloads at SIGHUP until the signal to stop comes. Several SIGHUPs during one reload are one.
void wait_for_stop(const Signals& signals, App& app, const std::string& config_file) {
  int signal = signals.wait();
  while (signal == SIGHUP) {
    reload(app, config_file);
    signal = signals.wait();
  }
  base::log(base::LogLevel::kInfo, "stopping", "no new connections; requests that run may finish",
            {{"signal", signal == SIGTERM ? "SIGTERM" : "SIGINT"}});
}

}  // namespace

std::optional<config::Config> load_or_complain(const std::string& config_file) {
  auto loaded = config::load_file(config_file);
  if (loaded) {
    return std::move(*loaded);
  }
  for (const config::Problem& problem : loaded.error()) {
    fmt::print(stderr, "{}\n", to_string(problem));
  }
  fmt::print(stderr, "fenceline: {} problem{} in {}\n", loaded.error().size(),
             loaded.error().size() == 1 ? "" : "s", config_file);
  return std::nullopt;
}

int serve(const std::string& config_file) {
  // Before the first thread: all threads must inherit the mask. And before all else: a SIGHUP that
  // comes early must not end the process.
  const Signals signals;
  const auto config = load_or_complain(config_file);
  if (!config) {
    return kExitUsage;
  }
  base::start_log(config->log.format == config::LogFormat::kJson ? base::LogFormat::kJson
                                                                 : base::LogFormat::kText,
                  to_base(config->log.level));
  auto app = start_app(*config);
  if (!app) {
    base::log(base::LogLevel::kError, "start_failed", app.error().detail);
    return kExitFailure;
  }
  wait_for_stop(signals, **app, config_file);
  Signals::end_at_next_signal();
  (*app)->stop();
  base::log(base::LogLevel::kInfo, "stopped", "all requests ended and the ledger is closed");
  return kExitOk;
}

int check_config(const std::string& config_file) {
  const auto config = load_or_complain(config_file);
  if (!config) {
    return kExitUsage;
  }
  if (!can_be_opened(*config)) {
    return kExitUsage;
  }
  const auto guarantees = config::guarantees(config->routes, config::canonical_path);
  for (std::size_t i = 0; i < config->routes.size(); ++i) {
    const config::Route& route = config->routes[i];
    const bool fenced = route.writes != config::Writes::kOff;
    fmt::print("route {}: match {}, fence {}, guarantee {}\n", route.name, route.match.text(),
               fenced ? route.fence.text() : "none", to_string(guarantees[i].level));
    fmt::print("  {}\n", guarantees[i].reason);
  }
  fmt::print("{}: the configuration is right\n", config_file);
  return kExitOk;
}

int print_version() {
  fmt::print("fenceline {}\n", FENCELINE_VERSION);
  return kExitOk;
}

}  // namespace fenceline::proxy
