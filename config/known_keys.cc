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
    KnownKey{"routes", "list of maps", "required"},
    KnownKey{"routes[].name", "name", "required"},
    KnownKey{"routes[].match", "pattern", "required"},
    KnownKey{"routes[].fence", "fence template", "<name>/<resource>"},
    KnownKey{"routes[].methods", "list of methods", "[GET, HEAD, PUT, DELETE]"},
    KnownKey{"routes[].writes", "required, optional, off", "required"},
    KnownKey{"routes[].enforce", "boolean", "true"},
    KnownKey{"routes[].max_jump", "integer", "0"},
    KnownKey{"routes[].require", "strict, bounded, detect", "none"},
    KnownKey{"routes[].limits", "map", "none"},
    KnownKey{"routes[].limits.body", "size", "1GiB"},
    KnownKey{"routes[].timeouts", "map", "none"},
    KnownKey{"routes[].timeouts.body", "duration", "timeouts.body"},
    KnownKey{"routes[].timeouts.drain", "duration", "timeouts.drain"},
    KnownKey{"routes[].files", "map", "required"},
    KnownKey{"routes[].files.root", "path", "required"},
    KnownKey{"routes[].files.sync", "full, none", "full"},
    KnownKey{"routes[].sqlite", "map", "none", false},
    KnownKey{"routes[].http", "map", "none", false},
    KnownKey{"routes[].s3", "map", "none", false},
    KnownKey{"leases", "map", "none", false},
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
