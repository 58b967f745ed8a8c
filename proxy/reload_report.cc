#include "proxy/reload_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>

#include "base/log.h"

namespace fenceline::proxy {
namespace {

base::Counter reloads(base::MetricRegistry& registry, const char* result) {
  return registry.counter("fenceline_config_reloads_total", "Reloads of the configuration.",
                          {{"result", result}});
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string joined(const std::vector<std::string>& names) {
  return names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

ReloadReport::ReloadReport(base::MetricRegistry& registry)
    : successes_(reloads(registry, "success")),
      failures_(reloads(registry, "failure")),
      last_successful_(registry.gauge("fenceline_config_last_reload_successful",
                                      "1 if the newest configuration was taken, 0 if it was "
                                      "refused and an older one runs.",
                                      {})),
      last_success_seconds_(registry.gauge(
          "fenceline_config_last_reload_success_timestamp_seconds",
          "When the configuration that runs was taken, in seconds since 1970.", {})) {}

void ReloadReport::started() {
  last_successful_.set(1);
  last_success_seconds_.set(seconds_since_1970());
}

void ReloadReport::succeeded(const Reloaded& reloaded) {
  successes_.add();
  started();
  const ReloadPlan& plan = reloaded.plan;
  base::log(base::LogLevel::kInfo, "reloaded", "new requests follow the new configuration",
            {{"generation", std::to_string(reloaded.generation)},
             {"added", joined(plan.added)},
             {"removed", joined(plan.removed)},
             {"changed", joined(plan.changed)},
             {"settings", joined(plan.settings)},
             {"listen", reloaded.listen},
             {"admin", reloaded.admin}});
}

void ReloadReport::failed(const std::string& file, const std::vector<std::string>& problems) {
  failures_.add();
  last_successful_.set(0);
  for (const std::string& problem : problems) {
    base::log(base::LogLevel::kError, "reload_problem", problem);
  }
  base::log(base::LogLevel::kError, "reload_failed",
            "nothing was changed: the configuration that was loaded before is kept",
            {{"config", file}, {"problems", std::to_string(problems.size())}});
}

}  // namespace fenceline::proxy
