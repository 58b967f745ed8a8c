#include "tests/support/hostile_upstream.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace fenceline::testing {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::chrono::seconds kPatience = Wire::kTimeout;

void set_up(int fd) {
  const timeval timeout{.tv_sec = kPatience.count(), .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/// Does not own the descriptor.
class PlainWire final : public Wire {
 public:
  explicit PlainWire(int fd) : fd_(fd) {}

  std::optional<std::size_t> send_some(std::string_view bytes) override {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return sent < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(sent));
  }

  std::string receive_some() override {
    std::array<char, 64 * 1024> bytes{};
    const ssize_t got = ::recv(fd_, bytes.data(), bytes.size(), 0);
    if (got < 0) {
      throw ConnectionReset("receive: reset, or nothing in time");
    }
    return {bytes.data(), static_cast<std::size_t>(got)};
  }

  void shutdown_write() override { ::shutdown(fd_, SHUT_WR); }
  [[nodiscard]] int fd() const override { return fd_; }

 private:
  int fd_;
};

/// The server's side of TLS. Does not own the descriptor.
class TlsServerWire final : public Wire {
 public:
  TlsServerWire(int fd, const TestCertificate& certificate)
      : fd_(fd), context_(SSL_CTX_new(TLS_server_method())), ssl_(nullptr) {
    SSL_CTX_use_certificate_chain_file(context_, certificate.certificate.c_str());
    SSL_CTX_use_PrivateKey_file(context_, certificate.key.c_str(), SSL_FILETYPE_PEM);
    ssl_ = SSL_new(context_);
    SSL_set_fd(ssl_, fd);
    if (SSL_accept(ssl_) != 1) {
      ERR_clear_error();
      SSL_free(ssl_);
      SSL_CTX_free(context_);
      throw ClientError("the client refused the handshake");
    }
  }
  TlsServerWire(const TlsServerWire&) = delete;
  TlsServerWire& operator=(const TlsServerWire&) = delete;
  ~TlsServerWire() override {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }

  std::optional<std::size_t> send_some(std::string_view bytes) override {
    std::size_t sent = 0;
    const bool done = SSL_write_ex(ssl_, bytes.data(), bytes.size(), &sent) == 1;
    ERR_clear_error();
    return done ? std::optional(sent) : std::nullopt;
  }

  std::string receive_some() override {
    std::array<char, 16 * 1024> bytes{};
    std::size_t got = 0;
    const int outcome = SSL_read_ex(ssl_, bytes.data(), bytes.size(), &got);
    if (outcome == 1) {
      return {bytes.data(), got};
    }
    const bool clean = SSL_get_error(ssl_, outcome) == SSL_ERROR_ZERO_RETURN;
    ERR_clear_error();
    if (clean) {
      return {};
    }
    throw ConnectionReset("receive: reset, not closed by TLS, or nothing in time");
  }

  void shutdown_write() override { SSL_shutdown(ssl_); }
  [[nodiscard]] int fd() const override { return fd_; }
  [[nodiscard]] SSL* ssl() const { return ssl_; }

 private:
  int fd_;
  SSL_CTX* context_;
  SSL* ssl_;
};

/// The value of a field of a head; empty if there is none.
std::string_view field_of(std::string_view head, std::string_view name_and_colon) {
  const std::size_t at = head.find(name_and_colon);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::string_view rest = head.substr(at + name_and_colon.size());
  return rest.substr(0, rest.find('\r'));
}

}  // namespace

bool UpstreamPeer::read_more() {
  const std::string more = wire_->receive_some();
  received_ += more;
  const std::scoped_lock lock(upstream_.mutex_);
  upstream_.connections_[index_].received += more;
  upstream_.changed_.notify_all();
  return !more.empty();
}

bool UpstreamPeer::read_bytes(std::size_t total) {
  while (received_.size() < total) {
    if (!read_more()) {
      return false;
    }
  }
  return true;
}

bool UpstreamPeer::read_request() {
  std::size_t head_end = 0;
  while ((head_end = received_.find(kHeadEnd, taken_)) == std::string::npos) {
    if (!read_more()) {
      return false;
    }
  }
  head_end += kHeadEnd.size();
  const std::string head = received_.substr(taken_, head_end - taken_);
  const std::string_view length = field_of(head, "Content-Length: ");
  std::size_t end = head_end + (length.empty() ? 0 : std::stoul(std::string(length)));
  if (field_of(head, "Transfer-Encoding: ") == "chunked") {
    constexpr std::string_view kLast = "0\r\n\r\n";
    while ((end = received_.find(kLast, head_end)) == std::string::npos) {
      if (!read_more()) {
        return false;
      }
    }
    end += kLast.size();
  }
  taken_ = end;
  return read_bytes(end);
}

bool UpstreamPeer::read_to_end() {
  try {
    while (read_more()) {
    }
    return true;
  } catch (const ConnectionReset&) {
    return false;
  }
}

void UpstreamPeer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::optional<std::size_t> sent = wire_->send_some(bytes);
    if (!sent) {
      throw ClientError("the client has gone");
    }
    bytes.remove_prefix(*sent);
  }
}

void UpstreamPeer::send_bytewise(std::string_view bytes) {
  for (const char& byte : bytes) {
    send({&byte, 1});
  }
}

void UpstreamPeer::shutdown_write() { wire_->shutdown_write(); }

void UpstreamPeer::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(wire_->fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

void UpstreamPeer::wait_until_told() {
  std::unique_lock lock(upstream_.mutex_);
  upstream_.changed_.wait_for(lock, kPatience,
                              [this] { return upstream_.told_ > 0 || upstream_.stopping_; });
  if (upstream_.told_ == 0) {
    throw ClientError("nobody told the upstream to go on");
  }
  --upstream_.told_;
}

void UpstreamPeer::apply(std::string effect) {
  const std::scoped_lock lock(upstream_.mutex_);
  upstream_.applied_.push_back(std::move(effect));
  upstream_.changed_.notify_all();
}

std::string UpstreamPeer::server_name() const {
  const auto* tls = dynamic_cast<const TlsServerWire*>(wire_.get());
  const char* name =
      tls == nullptr ? nullptr : SSL_get_servername(tls->ssl(), TLSEXT_NAMETYPE_host_name);
  return name == nullptr ? "" : name;
}

HostileUpstream::HostileUpstream(Script script, std::optional<TestCertificate> certificate)
    : script_(std::move(script)),
      certificate_(std::move(certificate)),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, SOMAXCONN) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw ClientError("the upstream cannot listen");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { accept_all(); });
}

HostileUpstream::~HostileUpstream() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
  // Nobody adds a connection any more.
  {
    const std::scoped_lock lock(mutex_);
    for (const Connection& connection : connections_) {
      if (connection.fd >= 0) {
        ::shutdown(connection.fd, SHUT_RDWR);
      }
    }
  }
  for (Connection& connection : connections_) {
    connection.thread.join();
  }
}

void HostileUpstream::accept_all() {
  while (true) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const std::scoped_lock lock(mutex_);
    if (fd < 0 || stopping_) {
      if (fd >= 0) {
        ::close(fd);
      }
      if (stopping_ || errno != EINTR) {
        return;
      }
      continue;
    }
    set_up(fd);
    const std::size_t index = connections_.size();
    Connection& connection = connections_.emplace_back();
    connection.fd = fd;
    connection.thread = std::thread([this, index, fd] { serve(index, fd); });
    changed_.notify_all();
  }
}

void HostileUpstream::serve(std::size_t index, int fd) {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  try {
    std::unique_ptr<Wire> wire;
    if (certificate_) {
      wire = std::make_unique<TlsServerWire>(fd, *certificate_);
    } else {
      wire = std::make_unique<PlainWire>(fd);
    }
    UpstreamPeer peer(*this, index, std::move(wire));
    script_(peer);
  } catch (const ClientError&) {
    // The connection ended before its script did.
  }
  const std::scoped_lock lock(mutex_);
  ::close(fd);
  connections_[index].fd = -1;
  ++ended_;
  changed_.notify_all();
}

std::size_t HostileUpstream::accepted() const {
  const std::scoped_lock lock(mutex_);
  return connections_.size();
}

std::string HostileUpstream::received(std::size_t index) const {
  const std::scoped_lock lock(mutex_);
  return index < connections_.size() ? connections_[index].received : "";
}

std::vector<std::string> HostileUpstream::applied() const {
  const std::scoped_lock lock(mutex_);
  return applied_;
}

void HostileUpstream::tell() {
  const std::scoped_lock lock(mutex_);
  ++told_;
  changed_.notify_all();
}

bool HostileUpstream::wait_for_ended(std::size_t scripts) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [&] { return ended_ >= scripts; });
}

bool HostileUpstream::wait_for_bytes(std::size_t index, std::size_t bytes) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [&] {
    return index < connections_.size() && connections_[index].received.size() >= bytes;
  });
}

}  // namespace fenceline::testing
