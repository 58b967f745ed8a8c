#pragma once

// OpenSSL as a client on a socket that does not block: what `tls_client` and others share.

#include <openssl/types.h>

#include <memory>
#include <string>

#include "base/error.h"

namespace fenceline::base::net {

struct SslContextFree {
  void operator()(SSL_CTX* context) const;
};
struct SslFree {
  void operator()(SSL* ssl) const;
};
using SslContext = std::unique_ptr<SSL_CTX, SslContextFree>;
using Ssl = std::unique_ptr<SSL, SslFree>;

/// TLS 1.2 and 1.3; `ca_file` (PEM) is trusted, the system's authorities if it is empty. May be
/// shared by threads.
/// Failure: `kInternal` with a sentence that names the file.
Result<SslContext> make_client_context(const std::string& ca_file, bool verify);

/// One connection over `fd`, which is connected, does not block and outlives it. The server must
/// prove to be `name`, a host name (also sent as SNI) or an address. No SIGPIPE.
/// Null if OpenSSL has no memory for it.
Ssl make_client_session(SSL_CTX& context, int fd, const std::string& name);

/// What OpenSSL complains about; takes all of it off this thread's queue.
std::string openssl_reason();

/// Why the handshake failed; `errno_value` is that of the call. Empties the queue as above.
std::string handshake_reason(const SSL& ssl, int errno_value);

}  // namespace fenceline::base::net
