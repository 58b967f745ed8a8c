#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "config/config.h"
#include "config/loader.h"

namespace fenceline::proxy {

/// The running server: the only place where the parts are put together.
class App {
 public:
  App() = default;
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  /// As `stop`.
  virtual ~App() = default;

  /// Stops: accepts no more, lets the requests that run finish up to `timeouts.shutdown`, cuts off
  /// the rest, lets every effect that has begun end, closes the ledger. Idempotent; blocks.
  virtual void stop() = 0;

  /// Takes a new configuration, or keeps the one that runs.
  /// Does: opens everything that `loaded` needs beside what is open (roots, certificates, listening
  /// sockets) and, if all of it works, lets every request that begins from now on follow it.
  /// Requests that run end under the configuration they began with. Logs `reloaded`, or every
  /// reason and `reload_failed`, naming `file`; counts it. True if it was taken. Blocks while roots
  /// are opened. Not while `stop` runs or after it; one call at a time.
  virtual bool reload(config::Loaded loaded, const std::string& file) = 0;

  /// The ports that are listened on; 0 for no admin listener. Not while `reload` runs.
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  [[nodiscard]] virtual std::uint16_t admin_port() const = 0;
};

/// Opens the ledger and the backends, prints the guarantee of each route, and starts to serve.
/// Success: it accepts connections. Failure: a sentence for the operator; nothing is left running.
/// Call once per process at a time; blocks while roots and ledger are opened.
base::Result<std::unique_ptr<App>> start_app(const config::Config& config);

}  // namespace fenceline::proxy
