#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/files/files_backend.h"
#include "backends/http/http_options.h"
#include "backends/s3/s3_options.h"
#include "backends/sqlite/sqlite_backend.h"
#include "base/worker_pool.h"
#include "config/config.h"
#include "proxy/s3_front.h"

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

/// `keys`: ours, for the upstream. Without what the route requires.
backends::s3::S3Options s3_options(const config::S3Backend& from,
                                   const std::optional<config::S3StaticKeys>& keys,
                                   const std::vector<std::string>& token_fields);

/// What stands in front of an S3 route with these `writes`.
S3FrontOptions s3_front_options(const config::S3Backend& from, config::Writes writes,
                                const std::vector<std::string>& token_fields);

}  // namespace fenceline::proxy
