#include "tests/support/delaying_relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace fenceline::testing {
namespace {

constexpr std::chrono::seconds kTimeout{20};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

base::UniqueFd new_socket() {
  base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    throw std::system_error(errno, std::generic_category(), "socket");
  }
  return fd;
}

base::UniqueFd listen_anywhere(std::uint16_t& port) {
  base::UniqueFd fd = new_socket();
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd.get(), generic, size) != 0 || ::listen(fd.get(), 128) != 0 ||
      ::getsockname(fd.get(), generic, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "listen");
  }
  port = ntohs(address.sin_port);
  return fd;
}

/// Not valid if nobody listens.
base::UniqueFd connect_to(std::uint16_t port) {
  base::UniqueFd fd = new_socket();
  const sockaddr_in address = loopback(port);
  const timeval timeout{.tv_sec = kTimeout.count(), .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    fd.reset();
  }
  return fd;
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// What has arrived; empty at the end, also after a reset.
std::string receive_some(int fd) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::recv(fd, buffer.data(), buffer.size(), 0);
  return count <= 0 ? std::string() : std::string(buffer.data(), static_cast<std::size_t>(count));
}

}  // namespace

DelayingRelay::DelayingRelay(std::uint16_t to) : to_(to), listener_(listen_anywhere(port_)) {
  acceptor_ = std::thread([this] { accept_connections(); });
}

DelayingRelay::~DelayingRelay() {
  ending_ = true;
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  for (const auto& connection : connections_) {
    ::shutdown(connection->client.get(), SHUT_RDWR);
    ::shutdown(connection->upstream.get(), SHUT_RDWR);
  }
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void DelayingRelay::accept_connections() {
  while (!ending_) {
    base::UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client.valid()) {
      continue;
    }
    base::UniqueFd upstream = connect_to(to_);
    if (!upstream.valid()) {
      continue;
    }
    const std::scoped_lock lock(mutex_);
    connections_.push_back(std::make_unique<Connection>());
    Connection& connection = *connections_.back();
    connection.client = std::move(client);
    connection.upstream = std::move(upstream);
    threads_.emplace_back([this, &connection] { serve(connection); });
  }
}

// The descriptors stay open until the destructor, which shuts them down from another thread.
void DelayingRelay::serve(Connection& connection) {
  bool client_sends = true;
  while (true) {
    std::array<pollfd, 2> both{{{client_sends ? connection.client.get() : -1, POLLIN, 0},
                                {connection.upstream.get(), POLLIN, 0}}};
    if (::poll(both.data(), both.size(), -1) < 0) {
      break;
    }
    if (both[1].revents != 0 && !take_from_upstream(connection)) {
      break;
    }
    if (both[0].revents != 0) {
      client_sends = take_from_client(connection);
      const std::scoped_lock lock(mutex_);
      if (!client_sends && connection.beginning.empty()) {
        break;
      }
    }
  }
  ::shutdown(connection.client.get(), SHUT_RDWR);
  ::shutdown(connection.upstream.get(), SHUT_RDWR);
}

// False at the end of what the client sends.
bool DelayingRelay::take_from_client(Connection& connection) {
  const std::string piece = receive_some(connection.client.get());
  {
    const std::scoped_lock lock(mutex_);
    if (piece.empty()) {
      connection.client_has_closed = true;
      changed_.notify_all();
      return false;
    }
    if (parks(connection, piece)) {
      connection.parked += piece;
      changed_.notify_all();
      return true;
    }
  }
  return send_all(connection.upstream.get(), piece);
}

// False at the end of what the upstream sends.
bool DelayingRelay::take_from_upstream(Connection& connection) {
  const std::string piece = receive_some(connection.upstream.get());
  {
    const std::scoped_lock lock(mutex_);
    if (connection.delivered || piece.empty()) {
      connection.answer += piece;
      connection.upstream_has_closed = piece.empty();
      changed_.notify_all();
      return !piece.empty();
    }
  }
  return send_all(connection.client.get(), piece);
}

bool DelayingRelay::parks(Connection& connection, std::string_view piece) {
  for (auto& [beginning, count] : to_park_) {
    if (connection.beginning.empty() && count > 0 && piece.starts_with(beginning)) {
      connection.beginning = beginning;
      --count;
    }
  }
  return !connection.beginning.empty();
}

void DelayingRelay::park(const std::string& beginning, std::size_t count) {
  const std::scoped_lock lock(mutex_);
  to_park_[beginning] = count;
}

void DelayingRelay::pass(const std::string& beginning) { park(beginning, 0); }

std::vector<DelayingRelay::Connection*> DelayingRelay::parked_like(const std::string& beginning) {
  std::vector<Connection*> found;
  for (const auto& connection : connections_) {
    if (connection->beginning == beginning && !connection->delivered) {
      found.push_back(connection.get());
    }
  }
  return found;
}

void DelayingRelay::wait_for_parked(const std::string& beginning, std::size_t count) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kTimeout, [&] { return parked_like(beginning).size() >= count; })) {
    throw std::runtime_error("timed out waiting for a request that begins with " + beginning);
  }
}

std::vector<std::string> DelayingRelay::deliver(const std::string& beginning) {
  std::unique_lock lock(mutex_);
  std::vector<std::string> answers;
  for (Connection* connection : parked_like(beginning)) {
    if (!changed_.wait_for(lock, kTimeout, [&] { return connection->client_has_closed; })) {
      throw std::runtime_error("timed out waiting for the sender to close: " + beginning);
    }
    connection->delivered = true;
    const std::string late = connection->parked;
    lock.unlock();
    const bool sent = send_all(connection->upstream.get(), late);
    lock.lock();
    const auto answered = [&] {
      return connection->upstream_has_closed ||
             connection->answer.find("\r\n\r\n") != std::string::npos;
    };
    if (!sent || !changed_.wait_for(lock, kTimeout, answered)) {
      throw std::runtime_error("the upstream did not answer the late request: " + beginning);
    }
    answers.push_back(connection->answer.substr(0, connection->answer.find("\r\n")));
  }
  return answers;
}

}  // namespace fenceline::testing
