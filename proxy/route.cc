#include "proxy/route.h"

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

std::optional<RouteTable::Found> RouteTable::find(const std::vector<std::string>& segments,
                                                  bool trailing_slash) const {
  auto found = table_.find(segments, trailing_slash);
  if (!found) {
    return std::nullopt;
  }
  return Found{&routes_[found->index], std::move(found->captures)};
}

}  // namespace fenceline::proxy
