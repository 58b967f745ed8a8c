#include "config/known_keys.h"

#include <algorithm>
#include <array>

namespace fenceline::config {
namespace {

constexpr std::array kKeys{
    KnownKey{"listen", "endpoint or map", "required"},
    KnownKey{"listen.address", "endpoint", "required"},
    KnownKey{"listen.tls", "map", "none"},
    KnownKey{"listen.tls.certificate", "path", "required"},
    KnownKey{"listen.tls.key", "path", "required"},
    KnownKey{"admin", "map", "none"},
    KnownKey{"admin.listen", "endpoint", "required"},
    KnownKey{"admin.token", "text", "none"},
    KnownKey{"ledger", "map", "required"},
    KnownKey{"ledger.sqlite", "path", "required"},
    KnownKey{"ledger.cache_keys", "integer", "1000000"},
    KnownKey{"token", "map", "none"},
    KnownKey{"token.headers", "list of field names", "[Fencing-Token, X-Fencing-Token]"},
    KnownKey{"limits", "map", "none"},
    KnownKey{"limits.head", "size", "32KiB"},
    KnownKey{"limits.connections", "integer", "10000"},
    KnownKey{"limits.staged", "size", "16GiB"},
    KnownKey{"timeouts", "map", "none"},
    KnownKey{"timeouts.head", "duration", "10s"},
    KnownKey{"timeouts.body", "duration", "30s"},
    KnownKey{"timeouts.keep_alive", "duration", "75s"},
    KnownKey{"timeouts.write", "duration", "30s"},
    KnownKey{"timeouts.drain", "duration", "5s"},
    KnownKey{"timeouts.shutdown", "duration", "30s"},
    KnownKey{"log", "map", "none"},
    KnownKey{"log.format", "text, json", "text"},
    KnownKey{"log.level", "debug, info, warn, error", "info"},
    KnownKey{"threads", "map", "none"},
    KnownKey{"threads.io", "integer", "one per core"},
    KnownKey{"threads.workers", "integer", "one per core"},
    KnownKey{"leases", "map", "none"},
    KnownKey{"leases.path", "path of a URL", "/leases"},
    KnownKey{"leases.token", "text", "none"},
    KnownKey{"leases.min_ttl", "duration", "1s"},
    KnownKey{"leases.max_ttl", "duration", "24h"},
    KnownKey{"leases.max_wait", "duration", "1m"},
    KnownKey{"leases.lock_delay", "duration", "0s"},
    KnownKey{"leases.max_lock_delay", "duration", "1m"},
    KnownKey{"leases.max_leases", "integer", "1000000"},
    KnownKey{"leases.max_waiters", "integer", "10000"},
    KnownKey{"leases.drain", "duration", "10s"},
    KnownKey{"routes", "list of maps", "required"},
    KnownKey{"routes[].name", "name", "required"},
    KnownKey{"routes[].match", "pattern", "required"},
    KnownKey{"routes[].hosts", "list of host names", "none"},
    KnownKey{"routes[].fence", "fence template", "<name>/<resource>"},
    KnownKey{"routes[].methods", "list of methods", "by backend"},
    KnownKey{"routes[].writes", "required, optional, off", "required"},
    KnownKey{"routes[].enforce", "boolean", "true"},
    KnownKey{"routes[].max_jump", "integer", "0"},
    KnownKey{"routes[].require", "strict, bounded, detect", "none"},
    KnownKey{"routes[].limits", "map", "none"},
    KnownKey{"routes[].limits.body", "size", "by backend"},
    KnownKey{"routes[].timeouts", "map", "none"},
    KnownKey{"routes[].timeouts.body", "duration", "timeouts.body"},
    KnownKey{"routes[].timeouts.drain", "duration", "timeouts.drain"},
    KnownKey{"routes[].idempotency", "map", "none"},
    KnownKey{"routes[].idempotency.ttl", "duration", "24h"},
    KnownKey{"routes[].idempotency.required", "boolean", "false"},
    KnownKey{"routes[].files", "map", "none"},
    KnownKey{"routes[].files.root", "path", "required"},
    KnownKey{"routes[].files.sync", "full, none", "full"},
    KnownKey{"routes[].sqlite", "map", "none"},
    KnownKey{"routes[].sqlite.database", "path", "required"},
    KnownKey{"routes[].sqlite.table", "table or none", "documents"},
    KnownKey{"routes[].sqlite.columns", "map", "none"},
    KnownKey{"routes[].sqlite.columns.key", "column", "required"},
    KnownKey{"routes[].sqlite.columns.value", "column", "required"},
    KnownKey{"routes[].sqlite.columns.content_type", "column", "none"},
    KnownKey{"routes[].sqlite.columns.etag", "column", "none"},
    KnownKey{"routes[].sqlite.columns.modified", "column", "none"},
    KnownKey{"routes[].sqlite.marks", "table", "fenceline_marks"},
    KnownKey{"routes[].sqlite.statements", "map of names to SQL or maps", "none"},
    KnownKey{"routes[].sqlite.statements[].mode", "read, write", "write"},
    KnownKey{"routes[].sqlite.statements[].sql", "SQL", "required"},
    KnownKey{"routes[].http", "map", "none"},
    KnownKey{"routes[].http.upstream", "URL", "required"},
    KnownKey{"routes[].http.commit", "auto, move, conditional, plain", "auto"},
    KnownKey{"routes[].http.settle", "duration or manual", "1m"},
    KnownKey{"routes[].http.reads", "list of methods", "[GET, HEAD, OPTIONS]"},
    KnownKey{"routes[].http.host", "upstream, client", "upstream"},
    KnownKey{"routes[].http.tls", "map", "none"},
    KnownKey{"routes[].http.tls.ca", "path", "none"},
    KnownKey{"routes[].http.tls.name", "host name", "none"},
    KnownKey{"routes[].http.tls.verify", "boolean", "true"},
    KnownKey{"routes[].http.credentials", "map", "none"},
    KnownKey{"routes[].http.credentials.basic", "map", "none"},
    KnownKey{"routes[].http.credentials.basic.user", "text", "required"},
    KnownKey{"routes[].http.credentials.basic.password", "text", "required"},
    KnownKey{"routes[].http.credentials.bearer", "text", "none"},
    KnownKey{"routes[].http.timeout", "duration", "1m"},
    KnownKey{"routes[].http.connect_timeout", "duration", "5s"},
    KnownKey{"routes[].http.keep_alive", "duration", "30s"},
    KnownKey{"routes[].http.connections", "integer", "1024"},
    KnownKey{"routes[].http.idle_connections", "integer", "64"},
    KnownKey{"routes[].http.probe", "boolean", "true"},
    KnownKey{"routes[].http.retry_body", "size", "1MiB"},
    KnownKey{"routes[].s3", "map", "none"},
    KnownKey{"routes[].s3.endpoint", "URL", "required"},
    KnownKey{"routes[].s3.bucket", "bucket", "none"},
    KnownKey{"routes[].s3.region", "region", "us-east-1"},
    KnownKey{"routes[].s3.addressing", "path, virtual", "path"},
    KnownKey{"routes[].s3.credentials", "map", "none"},
    KnownKey{"routes[].s3.credentials.access_key", "text", "none"},
    KnownKey{"routes[].s3.credentials.secret_key", "text", "none"},
    KnownKey{"routes[].s3.credentials.session_token", "text", "none"},
    KnownKey{"routes[].s3.credentials.file", "path", "none"},
    KnownKey{"routes[].s3.credentials.profile", "text", "default"},
    KnownKey{"routes[].s3.credentials.environment", "boolean", "false"},
    KnownKey{"routes[].s3.clients", "list of maps", "none"},
    KnownKey{"routes[].s3.clients[].access_key", "text", "required"},
    KnownKey{"routes[].s3.clients[].secret_key", "text", "required"},
    KnownKey{"routes[].s3.clients[].access", "write, read", "write"},
    KnownKey{"routes[].s3.anonymous", "boolean", "false"},
    KnownKey{"routes[].s3.commit", "auto, conditional, plain", "auto"},
    KnownKey{"routes[].s3.deletes", "auto, tombstone", "auto"},
    KnownKey{"routes[].s3.settle", "duration or manual", "1m"},
    KnownKey{"routes[].s3.probe", "boolean", "true"},
    KnownKey{"routes[].s3.probe_bucket", "bucket", "none"},
    KnownKey{"routes[].s3.tls", "map", "none"},
    KnownKey{"routes[].s3.tls.ca", "path", "none"},
    KnownKey{"routes[].s3.tls.name", "host name", "none"},
    KnownKey{"routes[].s3.tls.verify", "boolean", "true"},
    KnownKey{"routes[].s3.timeout", "duration", "1m"},
    KnownKey{"routes[].s3.connect_timeout", "duration", "5s"},
    KnownKey{"routes[].s3.keep_alive", "duration", "30s"},
    KnownKey{"routes[].s3.connections", "integer", "1024"},
    KnownKey{"routes[].s3.idle_connections", "integer", "64"},
    KnownKey{"routes[].s3.hold", "size", "1MiB"},
};

}  // namespace

std::span<const KnownKey> known_keys() { return kKeys; }

const KnownKey* find_key(std::string_view path) {
  const auto found = std::ranges::find(kKeys, path, &KnownKey::path);
  return found == kKeys.end() ? nullptr : &*found;
}

std::vector<std::string_view> names_in(std::string_view section) {
  std::vector<std::string_view> names;
  for (const KnownKey& key : kKeys) {
    std::string_view name = key.path;
    if (!key.available || !name.starts_with(section)) {
      continue;
    }
    name.remove_prefix(section.size());
    if (!section.empty()) {
      if (!name.starts_with('.')) {
        continue;
      }
      name.remove_prefix(1);
    }
    if (name.find_first_of(".[") == std::string_view::npos) {
      names.push_back(name);
    }
  }
  return names;
}

}  // namespace fenceline::config
