#include "config/ranges.h"
#include "config/read_backend.h"
#include "config/scalars.h"

namespace fenceline::config {
namespace {

constexpr std::int64_t kMaxConnections = 1'000'000;
constexpr std::uint64_t kMaxRetryBodyBytes = std::uint64_t{1} << 30U;

Parsed<CommitMode> parse_commit(std::string_view text) {
  return parse_choice<CommitMode>(text, {{"auto", CommitMode::kAuto},
                                         {"move", CommitMode::kMove},
                                         {"conditional", CommitMode::kConditional},
                                         {"plain", CommitMode::kPlain}});
}

Parsed<HostPolicy> parse_host(std::string_view text) {
  return parse_choice<HostPolicy>(
      text, {{"upstream", HostPolicy::kUpstream}, {"client", HostPolicy::kClient}});
}

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

void read_tls(Section& http, HttpBackend& backend, bool is_https) {
  auto map = http.map("tls", Need::kOptional);
  if (!map) {
    return;
  }
  backend.tls.ca = map->read("ca", Need::kOptional, parse_path);
  backend.tls.name = map->read("name", Need::kOptional, parse_host_name);
  map->read_into("verify", backend.tls.verify, parse_boolean);
  if (!is_https) {
    http.problem("tls", *http.value("tls", Need::kOptional),
                 "the upstream is http; write https, or remove the key");
  }
}

void read_connections(Section& http, HttpBackend& backend) {
  http.read_into("connections", backend.connections, integer_in(1, kMaxConnections));
  backend.idle_connections = std::min(backend.idle_connections, backend.connections);
  const std::size_t most = backend.connections;
  http.read_into("idle_connections", backend.idle_connections,
                 integer_in(0, static_cast<std::int64_t>(most)));
}

void read_probe(Section& http, HttpBackend& backend) {
  http.read_into("commit", backend.commit, parse_commit);
  http.read_into("probe", backend.probe, parse_boolean);
  const YamlNode* probe = http.value("probe", Need::kOptional);
  if (!backend.probe && backend.commit == CommitMode::kAuto && probe != nullptr) {
    http.problem("probe", *probe,
                 "without a probe nobody finds out what the upstream can; name `commit`: move, "
                 "conditional or plain");
  }
}

}  // namespace

std::optional<HttpBackend> read_http(Section& route, Place& place) {
  auto map = route.map("http", Need::kRequired);
  if (!map) {
    return std::nullopt;
  }
  HttpBackend backend;
  auto upstream = map->read("upstream", Need::kRequired, parse_upstream);
  read_probe(*map, backend);
  map->read_into("settle", backend.settle, parse_settle);
  if (auto reads = read_method_list(*map, "reads", parse_reading_method)) {
    backend.reads = std::move(*reads);
    complete_head(backend.reads);
  }
  map->read_into("host", backend.host, parse_host);
  read_tls(*map, backend, !upstream || upstream->tls);
  map->read_into("timeout", backend.timeout, timeout());
  map->read_into("connect_timeout", backend.connect_timeout, timeout());
  map->read_into("keep_alive", backend.keep_alive, timeout());
  read_connections(*map, backend);
  map->read_into("retry_body", backend.retry_body_bytes, size_in(0, kMaxRetryBodyBytes));
  if (!upstream) {
    return std::nullopt;
  }
  backend.upstream = std::move(*upstream);
  place = map->place_of("upstream");
  return backend;
}

}  // namespace fenceline::config
