#include "client/redis/wire.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/net/tls_session.h"

namespace fenceline::client::redis {
namespace {

using What = Moved::What;

Moved failed(std::string reason) {
  return {.what = What::kFailed, .bytes = 0, .reason = std::move(reason)};
}

bool would_block(int errno_value) {
  return errno_value == EAGAIN || errno_value == EWOULDBLOCK || errno_value == EINTR;
}

class PlainWire final : public Wire {
 public:
  explicit PlainWire(base::UniqueFd fd) : fd_(std::move(fd)) {}

  [[nodiscard]] int fd() const override { return fd_.get(); }

  Moved secure() override { return {}; }

  Moved write(std::string_view bytes) override {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return outcome(sent, What::kMustWrite);
  }

  Moved read(std::span<char> into) override {
    const ssize_t got = ::recv(fd_.get(), into.data(), into.size(), MSG_DONTWAIT);
    return got == 0 ? Moved{.what = What::kEnded} : outcome(got, What::kMustRead);
  }

  bool quiet() override {
    char byte = 0;
    return ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && would_block(errno);
  }

 private:
  static Moved outcome(ssize_t count, What blocked) {
    if (count >= 0) {
      return {.what = What::kDone, .bytes = static_cast<std::size_t>(count)};
    }
    return would_block(errno) ? Moved{.what = blocked}
                              : failed(std::generic_category().message(errno));
  }

  base::UniqueFd fd_;
};

class TlsWire final : public Wire {
 public:
  TlsWire(base::UniqueFd fd, base::net::Ssl ssl) : fd_(std::move(fd)), ssl_(std::move(ssl)) {}

  [[nodiscard]] int fd() const override { return fd_.get(); }

  Moved secure() override {
    prepare();
    const int outcome = SSL_connect(ssl_.get());
    const int system = errno;
    if (outcome == 1) {
      return {};
    }
    const int reason = SSL_get_error(ssl_.get(), outcome);
    if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) {
      return blocked(reason);
    }
    return failed(base::net::handshake_reason(*ssl_, system));
  }

  Moved write(std::string_view bytes) override {
    prepare();
    std::size_t sent = 0;
    const int outcome = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent);
    return outcome == 1 ? Moved{.what = What::kDone, .bytes = sent} : explained(outcome, errno);
  }

  Moved read(std::span<char> into) override {
    prepare();
    std::size_t got = 0;
    const int outcome = SSL_read_ex(ssl_.get(), into.data(), into.size(), &got);
    return outcome == 1 ? Moved{.what = What::kDone, .bytes = got} : explained(outcome, errno);
  }

  bool quiet() override {
    // Takes session tickets off the wire on the way, which are no answer.
    prepare();
    char byte = 0;
    std::size_t got = 0;
    const int outcome = SSL_peek_ex(ssl_.get(), &byte, 1, &got);
    return outcome != 1 && SSL_get_error(ssl_.get(), outcome) == SSL_ERROR_WANT_READ;
  }

 private:
  static void prepare() {
    ERR_clear_error();
    errno = 0;
  }

  static Moved blocked(int reason) {
    return {.what = reason == SSL_ERROR_WANT_READ ? What::kMustRead : What::kMustWrite};
  }

  Moved explained(int outcome, int system) {
    const int reason = SSL_get_error(ssl_.get(), outcome);
    switch (reason) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE:
        return blocked(reason);
      case SSL_ERROR_ZERO_RETURN:
        return {.what = What::kEnded};
      case SSL_ERROR_SYSCALL:
        return system == 0 ? Moved{.what = What::kEnded}
                           : failed(std::generic_category().message(system));
      default:
        return failed("TLS: " + base::net::openssl_reason());
    }
  }

  base::UniqueFd fd_;
  base::net::Ssl ssl_;
};

class TlsOfContext final : public Tls {
 public:
  explicit TlsOfContext(base::net::SslContext context) : context_(std::move(context)) {}

  std::unique_ptr<Wire> make_wire(base::UniqueFd fd, const std::string& name) override {
    auto ssl = base::net::make_client_session(*context_, fd.get(), name);
    return ssl == nullptr ? nullptr : std::make_unique<TlsWire>(std::move(fd), std::move(ssl));
  }

 private:
  base::net::SslContext context_;
};

}  // namespace

base::Result<std::shared_ptr<Tls>> make_tls(const std::string& ca_file) {
  auto context = base::net::make_client_context(ca_file, true);
  if (!context) {
    return base::fail(base::ErrorKind::kMalformedRequest, std::move(context.error().detail));
  }
  return std::make_shared<TlsOfContext>(std::move(*context));
}

std::unique_ptr<Wire> make_plain_wire(base::UniqueFd fd) {
  return std::make_unique<PlainWire>(std::move(fd));
}

}  // namespace fenceline::client::redis
