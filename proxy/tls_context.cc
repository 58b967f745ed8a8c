#include "proxy/tls_context.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <string>
#include <string_view>

namespace fenceline::proxy {
namespace {

constexpr std::array<unsigned char, 9> kHttp11 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

int choose_protocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned int offered_size, void* /*argument*/) {
  unsigned char* chosen = nullptr;
  const int outcome = SSL_select_next_proto(&chosen, out_size, kHttp11.data(), kHttp11.size(),
                                            offered, offered_size);
  *out = chosen;
  // A client that can only talk something else must not find out in the middle (RFC 7301, 3.2).
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// Instead of OpenSSL's own, which asks on the terminal and so hangs a service at start.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*argument*/) {
  return -1;
}

std::string openssl_reason() {
  const auto code = ERR_peek_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) {
    return fmt::format("cannot be opened (errno {})", ERR_GET_REASON(code));
  }
  const char* text = ERR_reason_error_string(code);
  return text == nullptr ? "unknown reason" : text;
}

tl::unexpected<base::Error> bad_file(std::string_view what, const std::string& path,
                                     std::string_view wanted) {
  return base::fail(base::ErrorKind::kInternal,
                    fmt::format("TLS {} {}: {}; {}", what, path, openssl_reason(), wanted));
}

void set_rules(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(
      context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // An idle connection gives its record buffers back.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
}

}  // namespace

base::Result<std::shared_ptr<TlsContext>> load_tls_context(const TlsFiles& files) {
  auto tls = std::make_shared<TlsContext>();
  SSL_CTX* context = tls->context().native_handle();
  set_rules(context);
  ERR_clear_error();
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1) {
    return bad_file("certificate", files.certificate, "wanted: a readable PEM file");
  }
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return bad_file("key", files.key,
                    "wanted: a readable PEM file without a passphrase, with the key of the "
                    "certificate " +
                        files.certificate);
  }
  if (SSL_CTX_check_private_key(context) != 1) {
    return bad_file("key", files.key, "wanted: the key of the certificate " + files.certificate);
  }
  return tls;
}

}  // namespace fenceline::proxy
