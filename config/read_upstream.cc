#include "config/read_upstream.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/ranges.h"
#include "config/scalars.h"

namespace fenceline::config {
namespace {

constexpr std::int64_t kMaxConnections = 1'000'000;

Parsed<std::optional<base::Milliseconds>> parse_settle(std::string_view text) {
  if (text == "manual") {
    return std::nullopt;
  }
  auto duration = timeout()(text);
  if (!duration) {
    return tl::unexpected(fmt::format("{}; or manual", duration.error()));
  }
  return *duration;
}

void read_tls(Section& backend, UpstreamSettings& settings, bool is_https) {
  auto map = backend.map("tls", Need::kOptional);
  if (!map) {
    return;
  }
  settings.tls.ca = map->read("ca", Need::kOptional, parse_path);
  settings.tls.name = map->read("name", Need::kOptional, parse_host_name);
  map->read_into("verify", settings.tls.verify, parse_boolean);
  if (!is_https) {
    backend.problem("tls", *backend.value("tls", Need::kOptional),
                    "the upstream is http; write https, or remove the key");
  }
}

void read_probe(Section& backend, UpstreamSettings& settings, std::string_view commits) {
  backend.read_into("probe", settings.probe, parse_boolean);
  const YamlNode* probe = backend.value("probe", Need::kOptional);
  if (!settings.probe && settings.commit == CommitMode::kAuto && probe != nullptr) {
    backend.problem("probe", *probe,
                    fmt::format("without a probe nobody finds out what the upstream can; name "
                                "`commit`: {}",
                                commits));
  }
}

void read_connections(Section& backend, UpstreamSettings& settings) {
  backend.read_into("connections", settings.connections, integer_in(1, kMaxConnections));
  settings.idle_connections = std::min(settings.idle_connections, settings.connections);
  const std::size_t most = settings.connections;
  backend.read_into("idle_connections", settings.idle_connections,
                    integer_in(0, static_cast<std::int64_t>(most)));
}

}  // namespace

void read_upstream_settings(Section& backend, UpstreamSettings& settings, bool is_https,
                            std::string_view commits) {
  read_probe(backend, settings, commits);
  backend.read_into("settle", settings.settle, parse_settle);
  read_tls(backend, settings, is_https);
  backend.read_into("timeout", settings.timeout, timeout());
  backend.read_into("connect_timeout", settings.connect_timeout, timeout());
  backend.read_into("keep_alive", settings.keep_alive, timeout());
  read_connections(backend, settings);
}

}  // namespace fenceline::config
