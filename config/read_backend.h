#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "config/problem.h"
#include "config/section.h"

namespace fenceline::config {

/// Reads what stands behind a route.
/// Does: takes the one backend that the route names and sets `places.backend`. Success: the
/// backend. Failure: nothing where there is none, more than one, or one that cannot be compared
/// with others (no usable path or upstream). Whatever is wrong is reported.
/// `match`: that of the route, nothing if it is not usable.
std::optional<BackendConfig> read_backend(Section& route, const std::optional<Pattern>& match,
                                          RoutePlaces& places, Report& report);

/// The `sqlite` backend of a route; nothing if it has no usable database. `place`: of the database.
std::optional<SqliteBackend> read_sqlite(Section& route, Place& place, Report& report);

/// The `http` backend of a route; nothing if it has no usable upstream. `place`: of the upstream.
std::optional<HttpBackend> read_http(Section& route, Place& place);

/// The `s3` backend of a route; nothing if it has no usable endpoint. `place`: of the endpoint.
std::optional<S3Backend> read_s3(Section& route, const std::optional<Pattern>& match, Place& place,
                                 Report& report);

/// The `hosts` of a route, in lower case. Whatever is wrong is reported.
std::vector<std::string> read_hosts(Section& route);

/// The methods of a route: those of the file that the backend can have, otherwise all that it has.
/// `GET` brings `HEAD` along. Whatever is wrong is reported.
std::vector<std::string> read_methods(Section& route, const BackendConfig& backend);

/// Adds `HEAD` behind `GET` where it is missing: a server that has GET has HEAD (RFC 9110, 9.1).
void complete_head(std::vector<std::string>& methods);

/// The list of methods under a key, each read by `parse` and there once; nothing if the key is
/// absent or no list. Whatever is wrong is reported.
template <typename Parse>
std::optional<std::vector<std::string>> read_method_list(Section& section, std::string_view key,
                                                         Parse parse) {
  const auto items = section.list(key, Need::kOptional);
  if (!items) {
    return std::nullopt;
  }
  std::vector<std::string> methods;
  for (const YamlNode* item : *items) {
    auto method = section.parse_scalar(key, *item, parse);
    if (!method) {
      continue;
    }
    if (std::ranges::find(methods, *method) != methods.end()) {
      section.problem(key, *item, fmt::format("\"{}\" is in the list twice", *method));
      continue;
    }
    methods.push_back(std::move(*method));
  }
  return methods;
}

}  // namespace fenceline::config
