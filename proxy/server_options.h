#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "proxy/request_parser.h"
#include "proxy/tls_transport.h"

namespace fenceline::proxy {

class Handler;

/// How long a session waits for its client. All measured with the core's timer wheel: up to one
/// tick (`ServerOptions::tick`) late. Every value must be above 0.
struct SessionTimeouts {
  /// TLS handshake; and the whole head, one total from its first byte, or from accept on.
  base::Milliseconds head{10'000};
  /// Between two pieces of a body.
  base::Milliseconds body_idle{30'000};
  /// Between an answer and the first byte of the next request. Closed without a word.
  base::Milliseconds keep_alive_idle{75'000};
  /// A write that makes no progress for so long.
  base::Milliseconds write_idle{30'000};
  /// Total: reading on after an answer that came before the end of the body.
  base::Milliseconds linger{5'000};
  /// The same after an answer to a complete request: only a client that pipelines past the
  /// `Connection: close` still sends.
  base::Milliseconds close{1'000};
};

/// How many bytes a session takes.
struct SessionLimits {
  HeadLimits head;
  /// The largest read buffer of one connection, reached by large bodies only, and only while they
  /// come so fast that each read fills the room before. Four times less costs a third more system
  /// time for a large PUT.
  std::size_t body_buffer_bytes = std::size_t{1024} * 1024;
  /// An unread rest of a body up to this is read and dropped to keep the connection.
  std::uint64_t drain_bytes = std::uint64_t{256} * 1024;
  /// What is read and dropped at most before a connection closes. Reading is cheap and a reset
  /// would take the answer away, so it is `SessionTimeouts::linger` that ends it in practice.
  std::uint64_t linger_bytes = std::uint64_t{1024} * 1024 * 1024;
};

/// One address and what answers there.
struct ListenerOptions {
  std::string name;                   ///< Unique: metric label and log field.
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6, numeric.
  std::uint16_t port = 0;             ///< 0: the system chooses, see `Server::port`.
  Handler* handler = nullptr;         ///< Must outlive the server, unless `owner` keeps it.
  /// What the handler is part of. Kept until no session follows these options any more; may be
  /// null. The last one to let go may be any core's thread.
  std::shared_ptr<const void> owner;
  std::optional<TlsFiles> tls;  ///< Left out: plain HTTP.
  bool all_cores = true;        ///< False: core 0 alone, enough for the admin listener.
  /// Open connections at one time, over all cores; above it clients are answered 503.
  std::size_t max_connections = 10'000;
  SessionTimeouts timeouts;
  SessionLimits limits;
};

struct ServerOptions {
  std::size_t cores = 1;        ///< Threads, each with its own io_context; at least 1.
  base::Milliseconds tick{50};  ///< Resolution of all time-outs.
  /// What requests leave behind to be tidied up; may be empty. Called by each core about once a
  /// second while it has connections, and after them until it answers false: nothing is left. So an
  /// idle server does not wake up. Not after `Server::stop`. Thread-safe; must not block.
  std::function<bool()> upkeep = {};
};

}  // namespace fenceline::proxy
