#include "proxy/open_backends.h"

#include <utility>
#include <variant>

#include "backends/http/http_backend.h"
#include "backends/s3/s3_backend.h"
#include "base/log.h"
#include "config/aws_credentials.h"
#include "config/loader.h"
#include "proxy/backend_options.h"

namespace fenceline::proxy {
namespace {

OpenBackends::Opened shared(base::Result<std::unique_ptr<backends::Backend>> opened) {
  if (!opened) {
    return tl::unexpected<base::Error>(std::move(opened.error()));
  }
  return std::shared_ptr<backends::Backend>(std::move(*opened));
}

}  // namespace

OpenBackends::Opened OpenBackends::open(const config::Config& config, const config::Route& route,
                                        const std::string& canonical_root) {
  if (const auto* files = std::get_if<config::FilesBackend>(&route.backend)) {
    return roots_.open(files->root, canonical_root, sync_mode_of(*files));
  }
  if (const auto* sqlite = std::get_if<config::SqliteBackend>(&route.backend)) {
    return open_database(*sqlite, route);
  }
  if (const auto* s3 = std::get_if<config::S3Backend>(&route.backend)) {
    return open_s3(*s3, route, config.token.headers);
  }
  return open_upstream(std::get<config::HttpBackend>(route.backend), route, config.token.headers);
}

OpenBackends::Opened OpenBackends::open_database(const config::SqliteBackend& from,
                                                 const config::Route& route) {
  backends::SqliteOptions options = sqlite_options(from, route.body_limit_bytes, pool_);
  options.keeps_answers = route.idempotency.has_value();
  options.on_failure = [database = from.database](const std::string& message) {
    base::log(base::LogLevel::kError, "out_of_service",
              "routes on this database take no writes until the server is restarted",
              {{"database", database}, {"reason", message}});
  };
  base::Histogram seconds = registry_.histogram(
      "fenceline_sqlite_commit_seconds", "Time of one durable commit of a SQLite backend.",
      {{"database", from.database}}, base::seconds_bounds());
  base::Histogram writes = registry_.histogram("fenceline_sqlite_commit_writes",
                                               "Writes that shared one commit of a SQLite backend.",
                                               {{"database", from.database}}, base::count_bounds());
  options.on_commit = [seconds, writes](std::size_t shared_by, double took) mutable {
    seconds.observe(took);
    writes.observe(static_cast<double>(shared_by));
  };
  return shared(backends::open_sqlite_backend(std::move(options)));
}

OpenBackends::Opened OpenBackends::open_upstream(const config::HttpBackend& from,
                                                 const config::Route& route,
                                                 const std::vector<std::string>& token_fields) {
  std::erase_if(upstreams_, [](const Upstream& each) { return each.backend.expired(); });
  for (const Upstream& each : upstreams_) {
    auto open = each.backend.lock();
    if (open && each.settings == from && each.methods == route.methods &&
        each.require == route.require && each.token_fields == token_fields) {
      return open;
    }
  }
  auto options = http_options(from, route.methods, token_fields);
  options.required =
      static_cast<backends::Guarantee>(route.require.value_or(config::Guarantee::kNone));
  auto opened = shared(backends::http::open_http_backend(std::move(options)));
  if (opened) {
    upstreams_.push_back({from, route.methods, route.require, token_fields, *opened});
  }
  return opened;
}

OpenBackends::Opened OpenBackends::open_s3(const config::S3Backend& from,
                                           const config::Route& route,
                                           const std::vector<std::string>& token_fields) {
  std::optional<config::S3StaticKeys> keys;
  if (from.credentials) {
    auto found = config::resolve_credentials(*from.credentials, config::process_environment);
    if (!found) {
      return base::fail(base::ErrorKind::kStorageFailed, "s3.credentials: " + found.error());
    }
    keys = std::move(*found);
  }
  std::erase_if(s3_upstreams_, [](const S3Upstream& each) { return each.backend.expired(); });
  for (const S3Upstream& each : s3_upstreams_) {
    auto open = each.backend.lock();
    if (open && each.settings == from && each.keys == keys && each.require == route.require) {
      return open;
    }
  }
  auto options = s3_options(from, keys, token_fields);
  options.http.required =
      static_cast<backends::Guarantee>(route.require.value_or(config::Guarantee::kNone));
  auto opened = shared(backends::s3::open_s3_backend(std::move(options)));
  if (opened) {
    s3_upstreams_.push_back({from, std::move(keys), route.require, *opened});
  }
  return opened;
}

}  // namespace fenceline::proxy
