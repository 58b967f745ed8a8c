#include "config/ranges.h"
#include "config/read_backend.h"
#include "config/read_upstream.h"
#include "config/scalars.h"

namespace fenceline::config {
namespace {

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

void read_credentials(Section& http, HttpBackend& backend) {
  auto map = http.map("credentials", Need::kOptional);
  if (!map) {
    return;
  }
  if (map->has("basic") == map->has("bearer")) {
    http.problem("credentials", *http.value("credentials", Need::kOptional),
                 "name one of `basic` and `bearer`");
    return;
  }
  if (auto token = map->read("bearer", Need::kOptional, parse_upstream_token)) {
    backend.credentials = BearerCredentials{std::move(*token)};
  }
  if (auto basic = map->map("basic", Need::kOptional)) {
    auto user = basic->read("user", Need::kRequired, parse_user);
    auto password = basic->read("password", Need::kRequired, parse_password);
    if (user && password) {
      backend.credentials = BasicCredentials{std::move(*user), std::move(*password)};
    }
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
  map->read_into("commit", backend.commit, parse_commit);
  read_upstream_settings(*map, backend, !upstream || upstream->tls, "move, conditional or plain");
  if (auto reads = read_method_list(*map, "reads", parse_reading_method)) {
    backend.reads = std::move(*reads);
    complete_head(backend.reads);
  }
  map->read_into("host", backend.host, parse_host);
  read_credentials(*map, backend);
  map->read_into("retry_body", backend.retry_body_bytes, size_in(0, kMaxRetryBodyBytes));
  if (!upstream) {
    return std::nullopt;
  }
  backend.upstream = std::move(*upstream);
  place = map->place_of("upstream");
  return backend;
}

}  // namespace fenceline::config
