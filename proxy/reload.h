#pragma once

// What may change while the server runs. Pure: nothing here looks at a file, a clock or a socket.

#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/guarantee.h"

namespace fenceline::proxy {

/// A configuration together with the places that its paths led to when it was read. Symbolic links
/// may lead elsewhere later; what is open stays open.
struct ResolvedConfig {
  config::Config config;
  /// Where the data of each route is, in their order (`config::store_of`): the canonical files root
  /// or database, or the upstream.
  std::vector<std::string> roots;
  std::string ledger;  ///< The canonical path of the ledger.
};

/// Resolves the paths of a configuration with `resolve`.
ResolvedConfig resolved(config::Config config, const config::ResolvePath& resolve);

/// Why a configuration cannot follow the one that runs, and where in its file that stands.
struct Refusal {
  config::Place place;  ///< Line 0: the file as a whole.
  std::string message;  ///< A sentence: the key, the reason, what to do.
};

/// What is to be done with a new configuration.
struct ReloadPlan {
  std::vector<Refusal> refused;  ///< Everything that needs a restart; empty: it can be taken.
  // Names of routes, each list in the order of its file.
  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<std::string> changed;
  /// The other keys that have another value, named as in docs/config.md.
  std::vector<std::string> settings;
};

/// Compares a new configuration with the one that runs.
///
/// Refused, because it is made once per process: `ledger`, `threads`, `log.format`. Refused,
/// because the new sockets are opened beside the old ones: an address that an open one excludes.
/// Refused, because requests that run must be able to end beside those that follow: a route under
/// which the same files, table or upstream would have another fence key than under a route that
/// still serves them, or one store another setting (`sync`, `marks`, `columns`), or a root or base
/// path inside or above one that is still open. (An upload under the old
/// key would not be stopped by a newer token on the new key.) Everything else may change.
///
/// `earlier`: configurations that no request begins under any more, but some still run under.
ReloadPlan plan_reload(const ResolvedConfig& running,
                       std::span<const ResolvedConfig* const> earlier,
                       const ResolvedConfig& wanted);

}  // namespace fenceline::proxy
