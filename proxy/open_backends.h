#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/backend.h"
#include "base/error.h"
#include "base/metrics.h"
#include "base/worker_pool.h"
#include "config/config.h"
#include "proxy/open_roots.h"

namespace fenceline::proxy {

/// Opens what stands behind the routes; a new configuration shares what is open already, with the
/// requests that run. For one thread.
class OpenBackends {
 public:
  using Opened = base::Result<std::shared_ptr<backends::Backend>>;

  /// `ledger_identity`: see `FilesOptions`. `registry` and `pool` outlive every backend.
  OpenBackends(std::string ledger_identity, base::MetricRegistry& registry, base::WorkerPool& pool)
      : registry_(registry), pool_(pool), roots_(std::move(ledger_identity), registry, pool) {}

  /// The backend of a route.
  /// Does: opens a files root, or a database, unless this process has it open; an upstream whose
  /// settings are the same as those of one in use is shared with its connections, another one is
  /// probed. `canonical_root`: of a files route.
  /// Success: the backend; it closes when its last holder lets go. Failure: as `OpenRoots::open`,
  /// `open_sqlite_backend`, `open_http_backend`,
  /// `open_s3_backend`, or why there are no keys for the upstream. Blocks.
  Opened open(const config::Config& config, const config::Route& route,
              const std::string& canonical_root);

 private:
  /// An upstream with the settings that it was opened with.
  struct Upstream {
    config::HttpBackend settings;
    std::vector<std::string> methods;
    std::optional<config::Guarantee> require;
    std::vector<std::string> token_fields;
    std::weak_ptr<backends::Backend> backend;
  };

  /// The same for an S3 server; the keys for it may have changed while their place did not.
  struct S3Upstream {
    config::S3Backend settings;
    std::optional<config::S3StaticKeys> keys;
    std::optional<config::Guarantee> require;
    std::weak_ptr<backends::Backend> backend;
  };

  Opened open_database(const config::SqliteBackend& from, const config::Route& route);
  Opened open_upstream(const config::HttpBackend& from, const config::Route& route,
                       const std::vector<std::string>& token_fields);
  Opened open_s3(const config::S3Backend& from, const config::Route& route,
                 const std::vector<std::string>& token_fields);

  base::MetricRegistry& registry_;
  base::WorkerPool& pool_;
  OpenRoots roots_;
  std::list<Upstream> upstreams_;
  std::list<S3Upstream> s3_upstreams_;
};

}  // namespace fenceline::proxy
