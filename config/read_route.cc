#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "config/ranges.h"
#include "config/readers.h"
#include "config/scalars.h"

namespace fenceline::config {
namespace {

constexpr std::uint64_t kMaxBodyBytes = std::uint64_t{1} << 50U;
constexpr std::array<std::string_view, 4> kFilesMethods{"GET", "HEAD", "PUT", "DELETE"};

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

Parsed<Sync> parse_sync(std::string_view text) {
  return parse_choice<Sync>(text, {{"full", Sync::kFull}, {"none", Sync::kNone}});
}

/// The methods of a route, in the order of `kFilesMethods`.
std::vector<std::string> read_methods(Section& route) {
  std::vector<std::string> named;
  const auto items = route.list("methods", Need::kOptional);
  if (!items) {
    return {kFilesMethods.begin(), kFilesMethods.end()};
  }
  for (const YamlNode* item : *items) {
    auto method = route.parse_scalar("methods", *item, parse_files_method);
    if (!method) {
      continue;
    }
    if (std::ranges::find(named, *method) != named.end()) {
      route.problem("methods", *item, fmt::format("\"{}\" is in the list twice", *method));
    }
    named.push_back(std::move(*method));
  }
  std::vector<std::string> methods;
  for (const std::string_view method : kFilesMethods) {
    // RFC 9110, 9.1: a server that has GET has HEAD.
    const std::string_view needed = method == "HEAD" ? "GET" : method;
    if (std::ranges::find(named, method) != named.end() ||
        std::ranges::find(named, needed) != named.end()) {
      methods.emplace_back(method);
    }
  }
  return methods;
}

std::optional<FilesBackend> read_files(Section& route, Report& report, Place* place) {
  if (!route.has("files")) {
    // A backend of a later version has been reported already.
    if (!route.has("sqlite") && !route.has("http") && !route.has("s3")) {
      report.add(route.place(),
                 fmt::format("`{}` is missing; a route needs a backend, as in `files: {{root: "
                             "var/data}}`",
                             route.full("files")));
    }
    return std::nullopt;
  }
  auto map = route.map("files", Need::kRequired);
  if (!map) {
    return std::nullopt;
  }
  FilesBackend files;
  map->read_into("sync", files.sync, parse_sync);
  auto root = map->read("root", Need::kRequired, parse_path);
  if (!root) {
    return std::nullopt;
  }
  files.root = std::move(*root);
  *place = map->place_of("root");
  return files;
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
  if (auto limits = section.map("limits", Need::kOptional)) {
    limits->read_into("body", route.body_limit_bytes, size_in(0, kMaxBodyBytes));
    route.places.body_limit = limits->place_of("body");
  }
  route.body_timeout = defaults.body;
  route.drain_timeout = defaults.drain;
  if (auto timeouts = section.map("timeouts", Need::kOptional)) {
    timeouts->read_into("body", route.body_timeout, timeout());
    timeouts->read_into("drain", route.drain_timeout, drain_timeout());
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
  auto files = read_files(*section, report, &places.backend);
  auto methods = read_methods(*section);
  places.name = section->place_of("name");
  places.match = section->place_of("match");
  places.require = section->place_of("require");
  places.body_limit = section->place();

  // Read the rest even if the route is lost: all its problems count.
  Route route{.name = name.value_or(""),
              .match = match ? std::move(*match) : *Pattern::parse("/"),
              .fence = fence ? std::move(*fence) : FenceTemplate::per_resource(""),
              .methods = std::move(methods),
              .require = std::nullopt,
              .backend = files ? std::move(*files) : FilesBackend{},
              .places = places};
  const bool usable = name && match && fence && files;
  read_options(*section, route, defaults);
  return usable ? std::optional(std::move(route)) : std::nullopt;
}

}  // namespace fenceline::config
