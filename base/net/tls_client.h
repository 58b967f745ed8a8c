#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "base/net/connection.h"

namespace fenceline::base::net {

/// Whom we trust, and as whom the upstream must prove itself.
struct TlsClientOptions {
  std::string ca_file;  ///< PEM; empty: the system's.
  std::string name;     ///< A host name (also sent as SNI) or an address.
  bool verify = true;   ///< Chain and name. False: anybody may be in between.
};

/// The rules of TLS towards one upstream. Thread-safe: shared by all cores.
class TlsClient {
 public:
  TlsClient() = default;
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;
  virtual ~TlsClient() = default;

  /// A connection over `socket`, which is connected; `Connection::secure` makes the handshake.
  /// Null if OpenSSL has no memory for it.
  virtual std::unique_ptr<Connection> make_connection(TcpSocket socket, ConnectionSlot slot,
                                                      TimerWheel& timers) = 0;
};

/// TLS 1.2 and 1.3, ALPN `http/1.1`.
/// Failure: `kInternal` with a sentence that names the file.
Result<std::shared_ptr<TlsClient>> make_tls_client(TlsClientOptions options);

}  // namespace fenceline::base::net
