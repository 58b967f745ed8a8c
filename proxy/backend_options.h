#pragma once

#include <string>
#include <vector>

#include "backends/files/files_backend.h"
#include "backends/http/http_options.h"
#include "backends/sqlite/sqlite_backend.h"
#include "base/worker_pool.h"
#include "config/config.h"

namespace fenceline::proxy {

// From the words of the configuration to those of the backends. Pure.

backends::SyncMode sync_mode_of(const config::FilesBackend& from);

/// Without the hooks.
backends::SqliteOptions sqlite_options(const config::SqliteBackend& from,
                                       std::uint64_t max_body_bytes, base::WorkerPool& pool);

/// `methods`: those that the route takes; `token_fields`: not for the upstream. Without what the
/// route requires.
backends::http::HttpOptions http_options(const config::HttpBackend& from,
                                         const std::vector<std::string>& methods,
                                         const std::vector<std::string>& token_fields);

}  // namespace fenceline::proxy
