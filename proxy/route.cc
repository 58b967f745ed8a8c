#include "proxy/route.h"

#include <algorithm>
#include <utility>

namespace fenceline::proxy {
namespace {

std::vector<config::Pattern> patterns_of(const std::vector<Route>& routes) {
  std::vector<config::Pattern> patterns;
  patterns.reserve(routes.size());
  for (const Route& route : routes) {
    patterns.push_back(route.pattern);
  }
  return patterns;
}

}  // namespace

RouteTable::RouteTable(std::vector<Route> routes)
    : routes_(std::move(routes)), table_(patterns_of(routes_)) {
  for (const Route& route : routes_) {
    if (route.s3 != nullptr) {
      s3_routes_.push_back(&route);
    }
  }
  std::ranges::stable_sort(s3_routes_, [](const Route* a, const Route* b) {
    return a->s3->paths().before(b->s3->paths());
  });
}

const Route* RouteTable::find(const config::PathSegments& path, config::Captures& captures) const {
  const auto index = table_.find(path, captures);
  return index ? &routes_[*index] : nullptr;
}

const Route* RouteTable::find_s3_by_host(std::string_view host, std::string_view path,
                                         S3Place& place) const {
  for (const Route* route : s3_routes_) {
    if (auto found = route->s3->paths().by_host(host, path)) {
      place = std::move(*found);
      return route;
    }
  }
  return nullptr;
}

base::Result<const Route*> RouteTable::find_s3_by_path(std::string_view path,
                                                       S3Place& place) const {
  for (const Route* route : s3_routes_) {
    auto found = route->s3->paths().by_path(path);
    if (!found) {
      return base::pass_on(found.error());
    }
    if (*found) {
      place = std::move(**found);
      return route;
    }
  }
  return nullptr;
}

const Route* RouteTable::named(std::string_view name) const {
  const auto found = std::ranges::find(routes_, name, &Route::name);
  return found == routes_.end() ? nullptr : &*found;
}

}  // namespace fenceline::proxy
