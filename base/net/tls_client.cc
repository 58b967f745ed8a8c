#include "base/net/tls_client.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/net/tls_session.h"

namespace fenceline::base::net {
namespace {

constexpr std::size_t kRecordBytes = std::size_t{16} * 1024;

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
      const int system = errno;
      if (outcome == 1) {
        co_return true;
      }
      const int reason = SSL_get_error(ssl_.get(), outcome);
      if (reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE) {
        fail(handshake_reason(*ssl_, system));
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

  Ssl ssl_;
};

class TlsClientOfContext final : public TlsClient {
 public:
  TlsClientOfContext(SslContext context, std::string name)
      : context_(std::move(context)), name_(std::move(name)) {}

  std::unique_ptr<Connection> make_connection(TcpSocket socket, ConnectionSlot slot,
                                              TimerWheel& timers) override {
    Ssl ssl = make_client_session(*context_, socket.native_handle(), name_);
    if (ssl == nullptr) {
      return nullptr;
    }
    return std::make_unique<TlsConnection>(std::move(socket), std::move(slot), timers,
                                           std::move(ssl));
  }

 private:
  SslContext context_;
  std::string name_;
};

}  // namespace

Result<std::shared_ptr<TlsClient>> make_tls_client(TlsClientOptions options) {
  constexpr std::array<unsigned char, 9> kHttp11 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  auto context = make_client_context(options.ca_file, options.verify);
  if (!context) {
    return base::pass_on(context.error());
  }
  if (SSL_CTX_set_alpn_protos(context->get(), kHttp11.data(), kHttp11.size()) != 0) {
    return base::fail(ErrorKind::kInternal, "cannot set up TLS: " + openssl_reason());
  }
  return std::make_shared<TlsClientOfContext>(std::move(*context), std::move(options.name));
}

}  // namespace fenceline::base::net
