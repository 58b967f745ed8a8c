#include "config/guarantee.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <variant>

#include "config/units.h"

namespace fenceline::config {
namespace {

/// What a store gives to a route whose writes are all fenced.
struct StoreGuarantee {
  RouteGuarantee operator()(const FilesBackend& files) const {
    if (files.sync == Sync::kNone) {
      return {Guarantee::kBounded,
              "Strict while the machine keeps power: files are not synced (sync: none), so a power "
              "cut can lose acknowledged writes; the fence itself is durable."};
    }
    return {
        Guarantee::kStrict,
        "Every write needs a token and is fenced at its commit; file and fence are durable before "
        "the answer."};
  }

  RouteGuarantee operator()(const SqliteBackend& /*sqlite*/) const {
    return {Guarantee::kStrict,
            "Every write needs a token and is fenced inside the transaction that holds its data "
            "and the mark."};
  }

  RouteGuarantee operator()(const HttpBackend& http) const {
    return http.commit == CommitMode::kPlain ? plain(http) : probed(http, http.probe);
  }

  RouteGuarantee operator()(const S3Backend& s3) const {
    if (s3.commit == CommitMode::kPlain) {
      return plain(s3);
    }
    if (s3.commit == CommitMode::kAuto && !s3.is_probed()) {
      RouteGuarantee given = plain(s3);
      given.reason += " To find out whether it can do more, the probe needs a `probe_bucket`.";
      return given;
    }
    return probed(s3, s3.is_probed());
  }

 private:
  static RouteGuarantee probed(const UpstreamSettings& settings, bool is_probed) {
    if (is_probed) {
      return confirmed(settings);
    }
    return {Guarantee::kBounded,
            fmt::format("Strict if the upstream does what commit: {} needs, which nobody looks at "
                        "(probe: false).",
                        to_string(settings.commit))};
  }

  static RouteGuarantee confirmed(const UpstreamSettings& settings) {
    return {Guarantee::kStrict,
            fmt::format("Every write needs a token and is fenced at its commit (commit: {}), as "
                        "far as the probe of the upstream confirms it.",
                        to_string(settings.commit))};
  }

  static RouteGuarantee plain(const UpstreamSettings& settings) {
    if (!settings.settle) {
      return {
          Guarantee::kBounded,
          "Strict if the operator settles a write of unknown outcome only when the upstream can "
          "no longer apply it (commit: plain, settle: manual)."};
    }
    return {Guarantee::kBounded,
            fmt::format("Strict unless the upstream applies a write later than {} after its "
                        "connection was closed (commit: plain).",
                        format_duration(*settings.settle))};
  }
};

/// Statements write the same rows, whatever their names; a fence that holds the name is one of
/// each.
bool has_a_fence_per_statement(const Route& route) {
  return std::holds_alternative<SqliteBackend>(route.backend) && is_write(route.backend, "POST") &&
         std::ranges::find(route.methods, "POST") != route.methods.end() &&
         route.fence.tells_last_segment(route.match);
}

}  // namespace

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
  if (has_a_fence_per_statement(route)) {
    return {
        Guarantee::kBounded,
        fmt::format("Strict for each statement alone: the fence \"{}\" holds the last segment of "
                    "the path, which is its name, so statements on the same rows do not fence "
                    "each other; set `fence` to what they share.",
                    route.fence.text())};
  }
  return std::visit(StoreGuarantee{}, route.backend);
}

std::vector<RouteGuarantee> guarantees(const std::vector<Route>& routes,
                                       const ResolvePath& resolve) {
  std::vector<RouteGuarantee> alone;
  const std::vector<std::string> stores = stores_of(routes, resolve);
  alone.reserve(routes.size());
  for (const Route& route : routes) {
    alone.push_back(route_guarantee(route));
  }
  std::vector<RouteGuarantee> together = alone;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    for (std::size_t j = 0; j < routes.size(); ++j) {
      if (i != j && routes[j].takes_writes() && alone[j].level < together[i].level &&
          may_share_data(routes[i], stores[i], routes[j], stores[j])) {
        const bool files = std::holds_alternative<FilesBackend>(routes[j].backend);
        together[i] = {alone[j].level,
                       fmt::format("Route `{}` writes the same {}. {}", routes[j].name,
                                   files ? "files" : "data", alone[j].reason)};
      }
    }
  }
  return together;
}

}  // namespace fenceline::config
