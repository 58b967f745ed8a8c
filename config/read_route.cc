#include <limits>
#include <utility>

#include "config/ranges.h"
#include "config/read_backend.h"
#include "config/readers.h"
#include "config/scalars.h"

namespace fenceline::config {
namespace {

constexpr std::uint64_t kMaxBodyBytes = std::uint64_t{1} << 50U;
/// SQLite's own limit for a row is 10^9 bytes, and each such body is in memory.
constexpr std::uint64_t kMaxSqliteBodyBytes = 512 * kMiB;
constexpr base::Milliseconds kMinKept{60 * 1000};
constexpr base::Milliseconds kMaxKept{30LL * 24 * 60 * 60 * 1000};

Parsed<Writes> parse_writes(std::string_view text) {
  return parse_choice<Writes>(
      text,
      {{"required", Writes::kRequired}, {"optional", Writes::kOptional}, {"off", Writes::kOff}});
}

Parsed<Guarantee> parse_guarantee(std::string_view text) {
  return parse_choice<Guarantee>(text, {{"strict", Guarantee::kStrict},
                                        {"bounded", Guarantee::kBounded},
                                        {"detect", Guarantee::kDetect}});
}

/// The template in the file, or one fence per resource. Nothing if it is wrong, or if it cannot be
/// known because the match or the name is.
std::optional<FenceTemplate> read_fence(Section& route, const std::optional<Pattern>& match,
                                        const std::optional<std::string>& name) {
  if (route.has("fence")) {
    if (!match) {
      return std::nullopt;
    }
    return route.read("fence", Need::kOptional, [&match](std::string_view text) {
      return FenceTemplate::parse(text, *match);
    });
  }
  return name ? std::optional(FenceTemplate::per_resource(*name)) : std::nullopt;
}

void read_options(Section& section, Route& route, const Timeouts& defaults) {
  section.read_into("writes", route.writes, parse_writes);
  section.read_into("enforce", route.enforce, parse_boolean);
  section.read_into("max_jump", route.max_jump,
                    integer_in(0, std::numeric_limits<std::int64_t>::max()));
  route.require = section.read("require", Need::kOptional, parse_guarantee);
  const bool sqlite = std::holds_alternative<SqliteBackend>(route.backend);
  if (sqlite) {
    route.body_limit_bytes = kSqliteBodyBytes;
  }
  if (auto limits = section.map("limits", Need::kOptional)) {
    limits->read_into("body", route.body_limit_bytes,
                      size_in(0, sqlite ? kMaxSqliteBodyBytes : kMaxBodyBytes));
    route.places.body_limit = limits->place_of("body");
  }
  route.body_timeout = defaults.body;
  route.drain_timeout = defaults.drain;
  if (auto timeouts = section.map("timeouts", Need::kOptional)) {
    timeouts->read_into("body", route.body_timeout, timeout());
    timeouts->read_into("drain", route.drain_timeout, drain_timeout());
  }
  if (auto idempotency = section.map("idempotency", Need::kOptional)) {
    route.idempotency.emplace();
    idempotency->read_into("ttl", route.idempotency->ttl, duration_in(kMinKept, kMaxKept));
    idempotency->read_into("required", route.idempotency->required, parse_boolean);
  }
}

}  // namespace

std::optional<Route> read_route(const YamlNode& node, std::string path, const Timeouts& defaults,
                                Report& report) {
  auto section = Section::open(node, std::move(path), report);
  if (!section) {
    return std::nullopt;
  }
  RoutePlaces places;
  places.route = section->place();
  auto name = section->read("name", Need::kRequired, parse_route_name);
  auto match = section->read("match", Need::kRequired, Pattern::parse);
  auto fence = read_fence(*section, match, name);
  auto backend = read_backend(*section, match, places, report);
  // Without a usable backend the methods are read as far as they can be: all problems count.
  auto methods = read_methods(*section, backend                 ? *backend
                                        : section->has("files") ? BackendConfig(FilesBackend{})
                                        : section->has("s3")    ? BackendConfig(S3Backend{})
                                                                : BackendConfig(HttpBackend{}));
  auto hosts = read_hosts(*section);
  places.name = section->place_of("name");
  places.match = section->place_of("match");
  places.hosts = section->place_of("hosts");
  places.require = section->place_of("require");
  places.body_limit = section->place();
  places.idempotency = section->place_of("idempotency");

  // Read the rest even if the route is lost: all its problems count.
  Route route{.name = name.value_or(""),
              .match = match ? std::move(*match) : *Pattern::parse("/"),
              .hosts = std::move(hosts),
              .fence = fence ? std::move(*fence) : FenceTemplate::per_resource(""),
              .methods = std::move(methods),
              .require = std::nullopt,
              .backend = backend ? std::move(*backend) : FilesBackend{},
              .places = places};
  const bool usable = name && match && fence && backend;
  read_options(*section, route, defaults);
  return usable ? std::optional(std::move(route)) : std::nullopt;
}

}  // namespace fenceline::config
