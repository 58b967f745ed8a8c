#include "base/net/tls_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace fenceline::base::net {
namespace {

template <typename T, void (*Free)(T*)>
struct Freer {
  void operator()(T* object) const { Free(object); }
};
using Context = std::unique_ptr<SSL_CTX, Freer<SSL_CTX, SSL_CTX_free>>;
using Ssl = std::unique_ptr<SSL, Freer<SSL, SSL_free>>;

constexpr std::size_t kRecordBytes = std::size_t{16} * 1024;

std::string openssl_reason() {
  const auto code = ERR_peek_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(code)) {
    return fmt::format("cannot be opened (errno {})", ERR_GET_REASON(code));
  }
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  return text == nullptr ? "unknown reason" : text;
}

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

/// The next bytes to encrypt: small pieces are joined, so that they go out in one record. The same
/// pieces give the same bytes again, as a repeated SSL_write must.
std::string_view next_record(const Connection::Unsent& unsent) {
  thread_local std::array<char, kRecordBytes> joined;
  const auto left = unsent.left();
  const iovec& first = left.front();
  if (left.size() == 1 || first.iov_len >= joined.size()) {
    return {static_cast<const char*>(first.iov_base), first.iov_len};
  }
  std::size_t size = 0;
  for (const iovec& piece : left) {
    const std::size_t here = std::min(piece.iov_len, joined.size() - size);
    std::memcpy(joined.data() + size, piece.iov_base, here);
    size += here;
  }
  return {joined.data(), size};
}

class TlsConnection final : public Connection {
 public:
  TlsConnection(TcpSocket socket, ConnectionSlot slot, TimerWheel& timers, Ssl ssl)
      : Connection(std::move(socket), std::move(slot), timers), ssl_(std::move(ssl)) {}

  Awaitable<bool> secure() override {
    while (true) {
      ERR_clear_error();
      errno = 0;
      const int outcome = SSL_connect(ssl_.get());
      if (outcome == 1) {
        co_return true;
      }
      const int reason = SSL_get_error(ssl_.get(), outcome);
      if (reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE) {
        explain_handshake();
        co_return false;
      }
      const bool or_writable = reason == SSL_ERROR_WANT_WRITE;
      const auto ready = co_await wait(or_writable);
      if (!ready) {
        co_return false;
      }
    }
  }

  Io write_now(Unsent& unsent) override {
    while (!unsent.empty()) {
      const std::string_view record = next_record(unsent);
      std::size_t sent = 0;
      ERR_clear_error();
      errno = 0;
      // Even a call that is blocked may have let a part of the record out.
      set_touched();
      const int outcome = SSL_write_ex(ssl_.get(), record.data(), record.size(), &sent);
      if (outcome != 1) {
        return blocked_or_failed(outcome);
      }
      unsent.drop(sent);
    }
    return {.status = IoStatus::kMoved};
  }

  Io read_now(std::span<char> into) override {
    std::size_t got = 0;
    ERR_clear_error();
    errno = 0;
    const int outcome = SSL_read_ex(ssl_.get(), into.data(), into.size(), &got);
    return outcome == 1 ? Io{.status = IoStatus::kMoved, .bytes = got} : blocked_or_failed(outcome);
  }

  Awaitable<Io> read(std::span<char> into) override {
    while (true) {
      const Io io = read_now(into);
      if (io.status != IoStatus::kBlocked) {
        co_return io;
      }
      const auto ready = co_await wait(false);
      if (!ready) {
        co_return fail("the time for it is over");
      }
    }
  }

  bool quiet() override {
    // Takes session tickets off the wire on the way, which are no answer.
    char first = 0;
    std::size_t got = 0;
    ERR_clear_error();
    errno = 0;
    const int outcome = SSL_peek_ex(ssl_.get(), &first, sizeof(first), &got);
    return outcome != 1 && SSL_get_error(ssl_.get(), outcome) == SSL_ERROR_WANT_READ;
  }

 private:
  Io blocked_or_failed(int outcome) {
    const int system = errno;
    switch (SSL_get_error(ssl_.get(), outcome)) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE:
        return {.status = IoStatus::kBlocked};
      case SSL_ERROR_ZERO_RETURN:
        return {.status = IoStatus::kEnded};
      case SSL_ERROR_SYSCALL:
        return fail(system == 0 ? "closed without a word"
                                : std::generic_category().message(system));
      default:
        return fail("TLS: " + openssl_reason());
    }
  }

  void explain_handshake() {
    const long verified = SSL_get_verify_result(ssl_.get());
    const int system = errno;
    if (verified != X509_V_OK && SSL_get_verify_mode(ssl_.get()) != SSL_VERIFY_NONE) {
      fail(fmt::format("its certificate is not trusted: {}",
                       X509_verify_cert_error_string(verified)));
    } else if (ERR_peek_error() != 0) {
      fail("TLS handshake: " + openssl_reason());
    } else {
      fail(system == 0 ? "it closed during the TLS handshake"
                       : std::generic_category().message(system));
    }
    ERR_clear_error();
  }

  Ssl ssl_;
};

bool is_address(const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> parsed{};
  return ::inet_pton(AF_INET, name.c_str(), parsed.data()) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), parsed.data()) == 1;
}

class TlsClientOfContext final : public TlsClient {
 public:
  TlsClientOfContext(Context context, TlsClientOptions options)
      : context_(std::move(context)), options_(std::move(options)) {}

  std::unique_ptr<Connection> make_connection(TcpSocket socket, ConnectionSlot slot,
                                              TimerWheel& timers) override {
    Ssl ssl(SSL_new(context_.get()));
    BIO* bio = BIO_new(socket_method());
    if (ssl == nullptr || bio == nullptr) {
      BIO_free(bio);
      return nullptr;
    }
    BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket.native_handle())));
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl.get(), bio, bio);
    if (!expect_name(ssl.get())) {
      return nullptr;
    }
    return std::make_unique<TlsConnection>(std::move(socket), std::move(slot), timers,
                                           std::move(ssl));
  }

 private:
  /// SNI takes no addresses (RFC 6066, 3).
  bool expect_name(SSL* ssl) const {
    if (is_address(options_.name)) {
      return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), options_.name.c_str()) == 1;
    }
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, options_.name.c_str()) == 1 &&
           SSL_set_tlsext_host_name(ssl, options_.name.c_str()) == 1;
  }

  Context context_;
  TlsClientOptions options_;
};

}  // namespace

Result<std::shared_ptr<TlsClient>> make_tls_client(TlsClientOptions options) {
  constexpr std::array<unsigned char, 9> kHttp11 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  ERR_clear_error();
  Context context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_alpn_protos(context.get(), kHttp11.data(), kHttp11.size()) != 0) {
    return base::fail(ErrorKind::kInternal, "cannot set up TLS: " + openssl_reason());
  }
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // An idle connection gives its record buffers back.
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(context.get(), options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (!options.ca_file.empty()) {
    if (SSL_CTX_load_verify_file(context.get(), options.ca_file.c_str()) != 1) {
      return base::fail(ErrorKind::kInternal,
                        fmt::format("TLS authorities {}: {}; wanted: a readable PEM file",
                                    options.ca_file, openssl_reason()));
    }
  } else if (options.verify && SSL_CTX_set_default_verify_paths(context.get()) != 1) {
    return base::fail(ErrorKind::kInternal,
                      "the system's TLS authorities cannot be read: " + openssl_reason());
  }
  return std::make_shared<TlsClientOfContext>(std::move(context), std::move(options));
}

}  // namespace fenceline::base::net
