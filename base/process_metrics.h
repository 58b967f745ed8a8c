#pragma once

#include <optional>
#include <string_view>

#include "base/metrics.h"

namespace fenceline::base {

/// Adds the metrics of this process that Prometheus has names for, read whenever they are scraped:
/// `process_cpu_seconds_total`, `process_resident_memory_bytes`, `process_open_fds`,
/// `process_max_fds`, `process_start_time_seconds`. What the system does not tell keeps its value.
/// Once per registry.
void add_process_metrics(MetricRegistry& registry);

/// The start of a process in clock ticks since boot, out of its `/proc/<pid>/stat`; nothing if the
/// text is not one. The name of the program in it may hold anything. Pure.
std::optional<double> start_ticks_of(std::string_view stat);

}  // namespace fenceline::base
