#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"
#include "proxy/transport.h"

namespace fenceline::proxy {

/// Where a listener's identity is kept, both as PEM.
struct TlsFiles {
  std::string certificate;  ///< The server's certificate, then those that lead to the root.
  std::string key;          ///< Its private key, without a passphrase.
};

/// Certificate, key and rules of one TLS listener. Thread-safe: shared by all cores.
class TlsContext;

/// Reads the files. TLS 1.2 and 1.3, no renegotiation, ALPN `http/1.1` (RFC 7301).
/// Failure: `kInternal` with a sentence that names the file: missing, unreadable, not PEM, needs a
/// passphrase, or the key is not the certificate's.
base::Result<std::shared_ptr<TlsContext>> load_tls_context(const TlsFiles& files);

/// A transport over one accepted TCP connection that is to become TLS: `handshake` comes first.
/// Failure: as `make_plain_transport`.
base::Result<std::unique_ptr<Transport>> make_tls_transport(boost::asio::io_context& context,
                                                            base::UniqueFd fd,
                                                            std::shared_ptr<TlsContext> tls,
                                                            TransportOptions options);

}  // namespace fenceline::proxy
