#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/http/http_options.h"
#include "base/error.h"

namespace fenceline::backends::http {

/// Opens a backend in front of somebody else's HTTP server (docs/http.md).
/// Does: probes it if the options ask for that; blocks for `options.probe_limit` at most. If the
/// upstream does not answer the backend opens all the same: it reads, refuses every write, says so
/// in `out_of_service`, and goes on probing.
/// Failure: `kInternal` if the CA file cannot be read.
base::Result<std::unique_ptr<Backend>> open_http_backend(HttpOptions options);

}  // namespace fenceline::backends::http
