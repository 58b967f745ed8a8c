#include "base/net/tls_session.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace fenceline::base::net {
namespace {

int descriptor_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

/// Says to OpenSSL what a failed system call means; -1.
int failed(BIO* bio, int retry_flags) {
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
    BIO_set_flags(bio, retry_flags | BIO_FLAGS_SHOULD_RETRY);
  }
  return -1;
}

// OpenSSL's own socket BIO calls write(2): SIGPIPE when the upstream has closed.
int send_bytes(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent = ::send(descriptor_of(bio), bytes, static_cast<std::size_t>(size),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent > 0 ? static_cast<int>(sent) : failed(bio, BIO_FLAGS_WRITE);
}

int receive_bytes(BIO* bio, char* into, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t got =
      ::recv(descriptor_of(bio), into, static_cast<std::size_t>(size), MSG_DONTWAIT);
  return got >= 0 ? static_cast<int>(got) : failed(bio, BIO_FLAGS_READ);
}

long control(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* socket_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "fenceline");
    BIO_meth_set_write(made, send_bytes);
    BIO_meth_set_read(made, receive_bytes);
    BIO_meth_set_ctrl(made, control);
    return made;
  }();
  return method;
}

bool is_address(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> parsed{};
  return ::inet_pton(AF_INET, name.c_str(), parsed.data()) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), parsed.data()) == 1;
}

/// SNI takes no addresses (RFC 6066, 3).
bool expect_name(SSL* ssl, const std::string& name) {
  if (is_address(name)) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) == 1;
  }
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(ssl, name.c_str()) == 1 && SSL_set_tlsext_host_name(ssl, name.c_str()) == 1;
}

}  // namespace

void SslContextFree::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }

void SslFree::operator()(SSL* ssl) const { SSL_free(ssl); }

std::string openssl_reason() {
  const auto code = ERR_peek_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) {
    return fmt::format("cannot be opened (errno {})", ERR_GET_REASON(code));
  }
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  return text == nullptr ? "unknown reason" : text;
}

std::string handshake_reason(const SSL& ssl, int errno_value) {
  std::string reason;
  const long verified = SSL_get_verify_result(&ssl);
  if (verified != X509_V_OK && SSL_get_verify_mode(&ssl) != SSL_VERIFY_NONE) {
    reason =
        fmt::format("its certificate is not trusted: {}", X509_verify_cert_error_string(verified));
  } else if (ERR_peek_error() != 0) {
    reason = "TLS handshake: " + openssl_reason();
  } else {
    reason = errno_value == 0 ? "it closed during the TLS handshake"
                              : std::generic_category().message(errno_value);
  }
  ERR_clear_error();
  return reason;
}

Result<SslContext> make_client_context(const std::string& ca_file, bool verify) {
  ERR_clear_error();
  SslContext context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1) {
    return base::fail(ErrorKind::kInternal, "cannot set up TLS: " + openssl_reason());
  }
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // An idle connection gives its record buffers back.
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(context.get(), verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (!ca_file.empty()) {
    if (SSL_CTX_load_verify_file(context.get(), ca_file.c_str()) != 1) {
      return base::fail(ErrorKind::kInternal,
                        fmt::format("TLS authorities {}: {}; wanted: a readable PEM file", ca_file,
                                    openssl_reason()));
    }
  } else if (verify && SSL_CTX_set_default_verify_paths(context.get()) != 1) {
    return base::fail(ErrorKind::kInternal,
                      "the system's TLS authorities cannot be read: " + openssl_reason());
  }
  return context;
}

Ssl make_client_session(SSL_CTX& context, int fd, const std::string& name) {
  Ssl ssl(SSL_new(&context));
  BIO* bio = BIO_new(socket_method());
  if (ssl == nullptr || bio == nullptr) {
    BIO_free(bio);
    return nullptr;
  }
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)));
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl.get(), bio, bio);
  if (!expect_name(ssl.get(), name)) {
    return nullptr;
  }
  return ssl;
}

}  // namespace fenceline::base::net
