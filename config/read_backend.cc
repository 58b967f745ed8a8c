#include "config/read_backend.h"

#include <array>
#include <cstddef>

#include "config/scalars.h"

namespace fenceline::config {
namespace {

constexpr std::array<std::string_view, 4> kBackends{"files", "sqlite", "http", "s3"};
constexpr std::array<std::string_view, 7> kHttpMethods{"GET",  "HEAD",  "OPTIONS", "PUT",
                                                       "POST", "PATCH", "DELETE"};

Parsed<Sync> parse_sync(std::string_view text) {
  return parse_choice<Sync>(text, {{"full", Sync::kFull}, {"none", Sync::kNone}});
}

std::optional<FilesBackend> read_files(Section& route, Place& place) {
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
  place = map->place_of("root");
  return files;
}

template <typename T>
std::optional<BackendConfig> as_backend(std::optional<T> read) {
  return read ? std::optional<BackendConfig>(std::move(*read)) : std::nullopt;
}

std::optional<BackendConfig> read_one(std::string_view key, Section& route,
                                      const std::optional<Pattern>& match, Place& place,
                                      Report& report) {
  if (key == "files") {
    return as_backend(read_files(route, place));
  }
  if (key == "sqlite") {
    return as_backend(read_sqlite(route, place, report));
  }
  return key == "http" ? as_backend(read_http(route, place))
                       : as_backend(read_s3(route, match, place, report));
}

/// What a backend can take, in the order in which it is told.
std::vector<std::string> all_methods(const BackendConfig& backend) {
  if (std::holds_alternative<FilesBackend>(backend)) {
    return {"GET", "HEAD", "PUT", "DELETE"};
  }
  if (std::holds_alternative<S3Backend>(backend)) {
    return {"GET", "HEAD", "PUT", "POST", "DELETE"};
  }
  std::vector<std::string> methods;
  if (const auto* sqlite = std::get_if<SqliteBackend>(&backend)) {
    if (sqlite->table) {
      methods = {"GET", "HEAD", "PUT", "DELETE"};
    }
    if (!sqlite->statements.empty()) {
      methods.emplace_back("POST");
    }
    return methods;
  }
  methods.assign(kHttpMethods.begin(), kHttpMethods.end());
  for (const std::string& read : std::get<HttpBackend>(backend).reads) {
    if (std::ranges::find(methods, read) == methods.end()) {
      methods.push_back(read);
    }
  }
  return methods;
}

Parsed<std::string> parse_method_of(std::string_view text, const std::vector<std::string>& all) {
  if (std::ranges::find(all, text) != all.end()) {
    return std::string(text);
  }
  const std::vector<std::string_view> words(all.begin(), all.end());
  const auto meant = nearest(text, words);
  return tl::unexpected(fmt::format("\"{}\" is not one of {}{}", text, fmt::join(words, ", "),
                                    meant ? fmt::format("; did you mean {}?", *meant) : ""));
}

}  // namespace

std::optional<BackendConfig> read_backend(Section& route, const std::optional<Pattern>& match,
                                          RoutePlaces& places, Report& report) {
  std::optional<BackendConfig> backend;
  std::string_view first;
  std::size_t count = 0;
  for (const std::string_view key : kBackends) {
    if (!route.has(key)) {
      continue;
    }
    if (++count == 1) {
      first = key;
      backend = read_one(key, route, match, places.backend, report);
      continue;
    }
    report.add(route.place_of(key),
               fmt::format("`{}` is a second backend beside `{}` (line {}); a route has one: "
                           "remove one of them, or make two routes",
                           route.full(key), first, route.place_of(first).line));
    Place ignored;
    read_one(key, route, match, ignored, report);
  }
  if (count == 0) {
    report.add(
        route.place(),
        fmt::format("`{}` is missing, or `sqlite`, `http` or `s3`; a route needs a backend, as in "
                    "`files: {{root: var/data}}`",
                    route.full("files")));
  }
  return count == 1 ? std::move(backend) : std::nullopt;
}

void complete_head(std::vector<std::string>& methods) {
  const auto get = std::ranges::find(methods, "GET");
  if (get != methods.end() && std::ranges::find(methods, "HEAD") == methods.end()) {
    methods.insert(get + 1, "HEAD");
  }
}

std::vector<std::string> read_methods(Section& route, const BackendConfig& backend) {
  const std::vector<std::string> all = all_methods(backend);
  const bool any = std::holds_alternative<HttpBackend>(backend);
  auto named =
      read_method_list(route, "methods", [&all, any](std::string_view text) -> Parsed<std::string> {
        return any ? parse_upstream_method(text) : parse_method_of(text, all);
      });
  if (!named) {
    return all;
  }
  complete_head(*named);
  // Those that everybody knows come first, and in their order, whatever that of the file.
  const auto rank = [&all](const std::string& method) {
    return std::ranges::find(all, method) - all.begin();
  };
  std::ranges::stable_sort(*named, {}, rank);
  return std::move(*named);
}

}  // namespace fenceline::config
