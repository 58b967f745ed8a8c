#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/request_id.h"
#include "proxy/server_observer.h"
#include "proxy/server_options.h"

namespace fenceline::proxy {

/// The HTTP front: cores, listeners and sessions.
///
/// Order at the end of the process, because coroutines may wait for work that others do for them:
///   1. `stop`: it returns when every session has ended, also those whose handler waited for a
///      worker pool, a ledger or a gate. So these must still work while `stop` runs, and must
///      answer within a bounded time.
///   2. Worker pools, ledgers, gates and handlers may be destroyed.
///   3. The server may be destroyed (before or after 2; no coroutine is left).
class Server {
 public:
  Server() = default;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Stops with a drain time of 0 if `stop` was not called.
  virtual ~Server() = default;

  /// The port of a listener, also where the system chose it; 0 if no listener has this name.
  /// Thread-safe, but not while `replace_listeners` runs.
  [[nodiscard]] virtual std::uint16_t port(std::string_view listener) const = 0;

  /// Replaces all listeners by `listeners`, matched by name, while the server serves.
  /// Does: first what can fail: reads the certificates, listens on addresses that are new. Then, on
  /// each core in one step: requests whose first byte has not come follow the new options, on new
  /// and on open connections; those that run end under the options they began with. A listener with
  /// the same address (port 0 is the same as port 0) and `all_cores` keeps its sockets. Otherwise,
  /// and when TLS is turned on or off, or the name is gone, its open connections end: idle ones
  /// now, others with their next answer. Connections that waited to be accepted are not reset.
  /// Success: all cores have switched. Failure: as `start_server`, and nothing has changed.
  /// Ownership: options that are replaced, with their `owner`, are let go when the last request
  /// under them has ended. Blocks for as long as the cores need to get to it. From one thread at a
  /// time, not from a core's, and not while `stop` runs; after `stop` it fails.
  virtual base::Result<void> replace_listeners(std::vector<ListenerOptions> listeners) = 0;

  /// Stops gracefully and waits for it.
  /// Does: no new connections; idle ones close at once; busy ones finish their request and answer
  /// with `Connection: close`. What is not done after `drain` is closed: reads and writes fail
  /// with `kShuttingDown`, but a handler that waits for an effect (a commit) is waited for however
  /// long it takes, because an effect that has begun has to be settled.
  /// Returns true if every request was answered within `drain`. Calling it again does nothing and
  /// returns true. Not from a core's thread; from one thread at a time.
  virtual bool stop(base::Milliseconds drain) = 0;
};

/// Opens all listeners and starts serving.
/// Success: connections are being accepted.
/// Failure: `kInternal` with a sentence for the operator: an address that cannot be listened on, a
/// certificate that cannot be used, two listeners of one name. Nothing is left running.
/// Ownership: `observer`, `clock`, `request_ids` and the listeners' handlers outlive the server.
base::Result<std::unique_ptr<Server>> start_server(const ServerOptions& options,
                                                   std::vector<ListenerOptions> listeners,
                                                   const base::Clock& clock,
                                                   base::RequestIds& request_ids,
                                                   ServerObserver& observer);

}  // namespace fenceline::proxy
