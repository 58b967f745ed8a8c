#include "config/guarantee.h"

#include <fmt/format.h>

#include <cstddef>

namespace fenceline::config {

RouteGuarantee route_guarantee(const Route& route) {
  if (route.writes == Writes::kOff) {
    return {Guarantee::kNone, "Tokens are not looked at (writes: off): nothing is fenced."};
  }
  if (!route.enforce) {
    return {Guarantee::kDetect,
            "Stale writes are logged and counted but pass (enforce: false, observe only)."};
  }
  if (route.writes == Writes::kOptional) {
    return {Guarantee::kDetect,
            "Writes without a token pass unfenced (writes: optional); writes with one are fenced."};
  }
  if (std::get<FilesBackend>(route.backend).sync == Sync::kNone) {
    return {Guarantee::kBounded,
            "Strict while the machine keeps power: files are not synced (sync: none), so a power "
            "cut can lose acknowledged writes; the fence itself is durable."};
  }
  return {
      Guarantee::kStrict,
      "Every write needs a token and is fenced at its commit; file and fence are durable before "
      "the answer."};
}

std::vector<RouteGuarantee> guarantees(const std::vector<Route>& routes,
                                       const ResolvePath& resolve) {
  std::vector<RouteGuarantee> alone;
  std::vector<std::string> roots;
  for (const Route& route : routes) {
    alone.push_back(route_guarantee(route));
    roots.push_back(resolve(std::get<FilesBackend>(route.backend).root));
  }
  std::vector<RouteGuarantee> together = alone;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    for (std::size_t j = 0; j < routes.size(); ++j) {
      if (i != j && roots[i] == roots[j] && routes[j].takes_writes() &&
          alone[j].level < together[i].level) {
        together[i] = {alone[j].level, fmt::format("Route `{}` writes the same files. {}",
                                                   routes[j].name, alone[j].reason)};
      }
    }
  }
  return together;
}

}  // namespace fenceline::config
