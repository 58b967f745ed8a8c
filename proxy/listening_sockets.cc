#include "proxy/listening_sockets.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

namespace fenceline::proxy {
namespace {

using base::Result;
using base::UniqueFd;

constexpr int kBacklog = 4096;  // The kernel lowers it to net.core.somaxconn.

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] int family() const { return storage.ss_family; }
  sockaddr* raw() { return reinterpret_cast<sockaddr*>(&storage); }

  void set_port(std::uint16_t port) {
    if (family() == AF_INET) {
      reinterpret_cast<sockaddr_in&>(storage).sin_port = htons(port);
    } else {
      reinterpret_cast<sockaddr_in6&>(storage).sin6_port = htons(port);
    }
  }

  [[nodiscard]] std::uint16_t port() const {
    return ntohs(family() == AF_INET ? reinterpret_cast<const sockaddr_in&>(storage).sin_port
                                     : reinterpret_cast<const sockaddr_in6&>(storage).sin6_port);
  }
};

bool parse(const std::string& text, Address& address) {
  auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage);
  if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    address.size = sizeof(sockaddr_in);
    return true;
  }
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage);
  if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    address.size = sizeof(sockaddr_in6);
    return true;
  }
  return false;
}

bool enable(const UniqueFd& fd, int level, int option) {
  const int on = 1;
  return ::setsockopt(fd.get(), level, option, &on, sizeof(on)) == 0;
}

/// A socket that listens; errno says why not.
UniqueFd listen_on(Address& address, bool join_others) {
  UniqueFd fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  // SO_REUSEADDR: connections of an earlier run that are still in TIME_WAIT do not matter.
  const bool listening = fd.valid() && enable(fd, SOL_SOCKET, SO_REUSEADDR) &&
                         (!join_others || enable(fd, SOL_SOCKET, SO_REUSEPORT)) &&
                         (address.family() == AF_INET || enable(fd, IPPROTO_IPV6, IPV6_V6ONLY)) &&
                         ::bind(fd.get(), address.raw(), address.size) == 0 &&
                         ::listen(fd.get(), kBacklog) == 0;
  return listening ? std::move(fd) : UniqueFd();
}

std::string_view advice_for(int reason) {
  switch (reason) {
    case EADDRINUSE:
      return "another process listens there; stop it or choose another port";
    case EADDRNOTAVAIL:
      return "this machine does not have that address; choose one of its own";
    case EACCES:
      return "ports below 1024 need CAP_NET_BIND_SERVICE; choose a higher one";
    default:
      return "see `man 7 ip`";
  }
}

tl::unexpected<base::Error> cannot_listen(const std::string& address, std::uint16_t port,
                                          int reason) {
  return base::fail(base::ErrorKind::kInternal,
                    fmt::format("cannot listen on {} port {}: {}; {}", address, port,
                                std::generic_category().message(reason), advice_for(reason)));
}

}  // namespace

Result<ListeningSockets> open_listening_sockets(const std::string& address, std::uint16_t port,
                                                std::size_t count) {
  Address target;
  if (!parse(address, target)) {
    return base::fail(base::ErrorKind::kInternal,
                      fmt::format("cannot listen on \"{}\": not a numeric IPv4 or IPv6 address; "
                                  "write one such as 127.0.0.1 or ::1",
                                  address));
  }
  target.set_port(port);

  ListeningSockets opened;
  UniqueFd first = listen_on(target, false);
  if (!first.valid() || ::getsockname(first.get(), target.raw(), &target.size) != 0) {
    return cannot_listen(address, port, errno);
  }
  opened.port = target.port();
  // From here on the address is ours, and the option only lets our own sockets join.
  if (count > 1 && !enable(first, SOL_SOCKET, SO_REUSEPORT)) {
    return cannot_listen(address, opened.port, errno);
  }
  opened.sockets.push_back(std::move(first));
  while (opened.sockets.size() < count) {
    UniqueFd next = listen_on(target, true);
    if (!next.valid()) {
      return cannot_listen(address, opened.port, errno);
    }
    opened.sockets.push_back(std::move(next));
  }
  return opened;
}

}  // namespace fenceline::proxy
