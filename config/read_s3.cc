#include <array>
#include <cstddef>

#include "config/ranges.h"
#include "config/read_backend.h"
#include "config/read_upstream.h"
#include "config/s3_match.h"
#include "config/scalars.h"

namespace fenceline::config {
namespace {

constexpr std::uint64_t kMaxHoldBytes = std::uint64_t{1} << 30U;

Parsed<CommitMode> parse_commit(std::string_view text) {
  return parse_choice<CommitMode>(text, {{"auto", CommitMode::kAuto},
                                         {"conditional", CommitMode::kConditional},
                                         {"plain", CommitMode::kPlain}});
}

Parsed<S3Addressing> parse_addressing(std::string_view text) {
  return parse_choice<S3Addressing>(
      text, {{"path", S3Addressing::kPath}, {"virtual", S3Addressing::kVirtual}});
}

Parsed<S3Deletes> parse_deletes(std::string_view text) {
  return parse_choice<S3Deletes>(
      text, {{"auto", S3Deletes::kAuto}, {"tombstone", S3Deletes::kTombstone}});
}

Parsed<S3Access> parse_access(std::string_view text) {
  return parse_choice<S3Access>(text, {{"write", S3Access::kWrite}, {"read", S3Access::kRead}});
}

Parsed<Upstream> parse_s3_endpoint(std::string_view text) {
  auto endpoint = parse_upstream(text);
  if (endpoint && !endpoint->base_path.empty()) {
    return tl::unexpected(
        fmt::format("\"{}\" has a path; S3 has buckets there, so name the server alone, as in "
                    "http://127.0.0.1:9000, and the bucket in `bucket`",
                    text));
  }
  return endpoint;
}

/// The file must hold one form of the credentials, so that nobody wonders which counts.
std::optional<S3Credentials> read_credentials(Section& s3, Report& report) {
  auto map = s3.map("credentials", Need::kOptional);
  if (!map) {
    return std::nullopt;
  }
  static constexpr std::array<std::string_view, 3> kForms{"access_key", "file", "environment"};
  if (std::ranges::count_if(kForms, [&map](std::string_view key) { return map->has(key); }) != 1) {
    report.add(map->place(),
               fmt::format("`{}` must have exactly one of `access_key` (with `secret_key`), `file` "
                           "and `environment`",
                           s3.full("credentials")));
    return std::nullopt;
  }
  // A key of another form would be taken by nobody.
  const auto belongs = [&map, &report](std::string_view key, std::string_view form) {
    if (map->has(key) && !map->has(form)) {
      report.add(map->place_of(key),
                 fmt::format("`{}` belongs to `{}`; remove it", map->full(key), form));
    }
  };
  belongs("secret_key", "access_key");
  belongs("session_token", "access_key");
  belongs("profile", "file");
  if (map->has("access_key")) {
    auto access_key = map->read("access_key", Need::kRequired, parse_upstream_access_key);
    auto secret_key = map->read("secret_key", Need::kRequired, parse_secret);
    auto token = map->read("session_token", Need::kOptional, parse_secret);
    return access_key && secret_key
               ? std::optional<S3Credentials>(S3StaticKeys{
                     std::move(*access_key), std::move(*secret_key), token.value_or("")})
               : std::nullopt;
  }
  if (map->has("file")) {
    S3KeysInFile keys;
    map->read_into("file", keys.file, parse_path);
    map->read_into("profile", keys.profile, parse_profile);
    return keys;
  }
  const auto environment = map->read("environment", Need::kRequired, parse_boolean);
  if (environment && !*environment) {
    map->problem("environment", *map->value("environment", Need::kRequired),
                 "is false, so there are no credentials; write true, or name others");
  }
  return S3KeysInEnvironment{};
}

std::vector<S3Client> read_clients(Section& s3, Report& report) {
  std::vector<S3Client> clients;
  const auto items = s3.list("clients", Need::kOptional);
  for (std::size_t i = 0; items && i < items->size(); ++i) {
    auto map = Section::open(*(*items)[i], fmt::format("{}[{}]", s3.full("clients"), i), report);
    if (!map) {
      continue;
    }
    auto access_key = map->read("access_key", Need::kRequired, parse_access_key);
    auto secret_key = map->read("secret_key", Need::kRequired, parse_secret);
    S3Client client;
    map->read_into("access", client.access, parse_access);
    if (access_key &&
        std::ranges::find(clients, *access_key, &S3Client::access_key) != clients.end()) {
      report.add(map->place_of("access_key"),
                 fmt::format("`{}`: \"{}\" is also that of another client; give each its own",
                             map->full("access_key"), *access_key));
    }
    client.access_key = access_key.value_or("");
    client.secret_key = secret_key.value_or("");
    clients.push_back(std::move(client));
  }
  return clients;
}

void read_callers(Section& s3, S3Backend& backend, Report& report) {
  s3.read_into("anonymous", backend.anonymous, parse_boolean);
  backend.clients = read_clients(s3, report);
  if (!s3.has("clients") && !backend.anonymous) {
    report.add(s3.place(),
               fmt::format("`{}` is missing, so nobody may call; list their keys, or write "
                           "`anonymous: true` to take requests without a signature",
                           s3.full("clients")));
  }
}

void read_buckets(Section& s3, S3Backend& backend, const std::optional<S3Match>& match,
                  Report& report) {
  backend.bucket = s3.read("bucket", Need::kOptional, parse_bucket);
  backend.probe_bucket = s3.read("probe_bucket", Need::kOptional, parse_bucket);
  if (match && !match->names_bucket && !s3.has("bucket")) {
    report.add(s3.place(), fmt::format("the key `{}` is missing; or write {{bucket}} into the "
                                       "`match`, so that clients name it",
                                       s3.full("bucket")));
  }
  if (match && match->names_bucket && s3.has("bucket")) {
    report.add(s3.place_of("bucket"),
               fmt::format("`{}`: the `match` has {{bucket}}, so clients name it; remove one of "
                           "them",
                           s3.full("bucket")));
  }
  if (s3.has("probe_bucket") && (s3.has("bucket") || !backend.probe)) {
    report.add(s3.place_of("probe_bucket"),
               fmt::format("`{}`: {}; remove it", s3.full("probe_bucket"),
                           backend.probe ? "the probe writes into `bucket`" : "`probe` is false"));
  }
}

}  // namespace

std::optional<S3Backend> read_s3(Section& route, const std::optional<Pattern>& match, Place& place,
                                 Report& report) {
  auto map = route.map("s3", Need::kRequired);
  if (!map) {
    return std::nullopt;
  }
  std::optional<S3Match> paths;
  if (match) {
    auto parsed = s3_match(*match);
    if (parsed) {
      paths = std::move(*parsed);
    } else {
      report.add(route.place_of("match"),
                 fmt::format("`{}`: {}", route.full("match"), parsed.error()));
    }
  }
  S3Backend backend;
  auto endpoint = map->read("endpoint", Need::kRequired, parse_s3_endpoint);
  map->read_into("commit", backend.commit, parse_commit);
  read_upstream_settings(*map, backend, !endpoint || endpoint->tls, "conditional or plain");
  read_buckets(*map, backend, paths, report);
  map->read_into("region", backend.region, parse_region);
  map->read_into("addressing", backend.addressing, parse_addressing);
  if (endpoint && backend.addressing == S3Addressing::kVirtual && is_address(endpoint->host)) {
    map->problem("addressing", *map->value("addressing", Need::kRequired),
                 "no bucket can stand in front of an IP address; write path, or name the host");
  }
  backend.credentials = read_credentials(*map, report);
  read_callers(*map, backend, report);
  map->read_into("deletes", backend.deletes, parse_deletes);
  if (backend.deletes == S3Deletes::kTombstone && backend.commit == CommitMode::kPlain) {
    report.add(map->place_of("deletes"),
               fmt::format("`{}`: a tombstone is written under a condition, and `commit: plain` "
                           "knows none; write `commit: auto`, or remove one of them",
                           map->full("deletes")));
  }
  map->read_into("hold", backend.hold_bytes, size_in(0, kMaxHoldBytes));
  if (!endpoint) {
    return std::nullopt;
  }
  backend.upstream = std::move(*endpoint);
  place = map->place_of("endpoint");
  return backend;
}

std::vector<std::string> read_hosts(Section& route) {
  std::vector<std::string> hosts;
  const auto items = route.list("hosts", Need::kOptional);
  if (!items) {
    return hosts;
  }
  for (const YamlNode* item : *items) {
    auto host = route.parse_scalar("hosts", *item, parse_bucket_host);
    if (host && std::ranges::find(hosts, *host) != hosts.end()) {
      route.problem("hosts", *item, fmt::format("\"{}\" is in the list twice", *host));
    } else if (host) {
      hosts.push_back(std::move(*host));
    }
  }
  if (!route.has("s3")) {
    route.problem("hosts", *route.value("hosts", Need::kRequired),
                  "only S3 routes are also found by their host; remove it");
  }
  return hosts;
}

}  // namespace fenceline::config
