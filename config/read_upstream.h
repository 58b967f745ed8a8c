#pragma once

#include <string_view>

#include "config/section.h"
#include "config/upstream_settings.h"

namespace fenceline::config {

/// Reads what is configured alike for every upstream: `settle`, `probe`, `tls`, `timeout`,
/// `connect_timeout`, `keep_alive`, `connections` and `idle_connections` of one backend; not where
/// it is and not `commit`, which has been read. `is_https`: also true while nobody knows.
/// `commits`: the words that `commit` may be, but for `auto`, for a sentence.
void read_upstream_settings(Section& backend, UpstreamSettings& settings, bool is_https,
                            std::string_view commits);

}  // namespace fenceline::config
