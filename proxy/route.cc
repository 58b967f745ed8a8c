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
    : routes_(std::move(routes)), table_(patterns_of(routes_)) {}

const Route* RouteTable::find(const config::PathSegments& path, config::Captures& captures) const {
  const auto index = table_.find(path, captures);
  return index ? &routes_[*index] : nullptr;
}

const Route* RouteTable::named(std::string_view name) const {
  const auto found = std::ranges::find(routes_, name, &Route::name);
  return found == routes_.end() ? nullptr : &*found;
}

}  // namespace fenceline::proxy
