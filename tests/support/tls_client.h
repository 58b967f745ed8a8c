#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "tests/support/raw_client.h"

namespace fenceline::testing {

/// A server's identity in two PEM files.
struct TestCertificate {
  std::string certificate;
  std::string key;
};

/// Makes a key and a certificate for `localhost`, signed by itself, in `folder` as `<name>.pem` and
/// `<name>.key`. Throws `ClientError`.
TestCertificate make_self_signed(const std::filesystem::path& folder, const std::string& name);

struct TlsClientOptions {
  int max_version = 0;  ///< Such as TLS1_1_VERSION; 0: the newest.
  std::string alpn{};   ///< One protocol to offer; empty: none.
  int receive_buffer_bytes = 0;
};

/// A TLS connection to 127.0.0.1, after its handshake, which trusts `certificate` alone.
/// Throws `ClientError` if the handshake fails.
std::unique_ptr<Wire> connect_tls(std::uint16_t port, const std::string& certificate,
                                  const TlsClientOptions& options = {});

/// The protocol that the server chose (ALPN) on a wire of `connect_tls`; empty if none.
std::string alpn_of(const Wire& wire);

}  // namespace fenceline::testing
