#include "client/sources/zookeeper/zk_connection.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <system_error>
#include <utility>

#include "client/sources/one_key.h"
#include "client/sources/zookeeper/zk_wire.h"

namespace fenceline::client {
namespace {

using base::ErrorKind;
using base::Milliseconds;
using base::Result;
using std::chrono::steady_clock;

constexpr std::size_t kLengthBytes = 4;
constexpr std::int32_t kMaxFrameBytes = 4 << 20;  // Of children of one node.
constexpr std::size_t kReadBytes = 16 * 1024;

Milliseconds until(steady_clock::time_point end) {
  return std::max(Milliseconds(0), std::chrono::ceil<Milliseconds>(end - steady_clock::now()));
}

std::string text_of(int error) { return std::generic_category().message(error); }

base::Error unreachable(const std::string& address, std::string_view reason) {
  return {.kind = ErrorKind::kUpstreamFailed,
          .detail = fmt::format("ZooKeeper at {} cannot be reached: {}.", address, reason)};
}

Result<base::UniqueFd> connect_to(const addrinfo& target, const std::string& address,
                                  Milliseconds limit, const StopEvent& stop) {
  base::UniqueFd fd(::socket(target.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) {
    return tl::unexpected(unreachable(address, text_of(errno)));
  }
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(fd.get(), target.ai_addr, target.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) {
      return tl::unexpected(unreachable(address, text_of(errno)));
    }
    switch (stop.wait(fd.get(), POLLOUT, limit)) {
      case Woken::kStopped:
        return tl::unexpected(stopped_error(base::Applied::kNo));
      case Woken::kLate:
        return tl::unexpected(zk_late(address));
      case Woken::kReady:
        break;
    }
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      return tl::unexpected(unreachable(address, text_of(error)));
    }
  }
  return fd;
}

}  // namespace

std::string zk_address(const SourceHost& host) {
  const bool is_v6 = host.host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", host.host, host.port)
               : fmt::format("{}:{}", host.host, host.port);
}

base::Error zk_late(const std::string& address) {
  return {.kind = ErrorKind::kUpstreamTimeout,
          .detail = fmt::format("ZooKeeper at {} did not answer in time.", address)};
}

Result<ZkConnection> ZkConnection::open(const SourceHost& host, Milliseconds limit,
                                        const StopEvent& stop) {
  const std::string address = zk_address(host);
  const auto end = steady_clock::now() + limit;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure =
      ::getaddrinfo(host.host.c_str(), std::to_string(host.port).c_str(), &hints, &found);
  if (failure != 0) {
    return tl::unexpected(unreachable(address, ::gai_strerror(failure)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, &::freeaddrinfo);
  base::Error last = unreachable(address, "its name has no address");
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    auto fd = connect_to(*each, address, until(end), stop);
    if (fd) {
      return ZkConnection(std::move(*fd), address);
    }
    last = std::move(fd.error());
    if (last.kind == ErrorKind::kClientGone) {
      break;
    }
  }
  return tl::unexpected(std::move(last));
}

base::Error ZkConnection::lost(int error) const {
  return {.kind = ErrorKind::kUpstreamFailed,
          .detail = fmt::format("The connection with ZooKeeper at {} broke: {}.", address_,
                                error == 0 ? "it was closed" : text_of(error))};
}

Result<void> ZkConnection::send(const std::string& frame, Milliseconds limit,
                                const StopEvent& stop) {
  const auto end = steady_clock::now() + limit;
  const std::string bytes = ZkWriter().text(frame).bytes();
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t sent = ::send(fd_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) {
      return tl::unexpected(lost(errno));
    }
    const Woken woken = stop.wait(fd_.get(), POLLOUT, until(end));
    if (woken != Woken::kReady) {
      return tl::unexpected(woken == Woken::kStopped ? stopped_error(base::Applied::kUnknown)
                                                     : zk_late(address_));
    }
  }
  return {};
}

Result<std::string> ZkConnection::receive(Milliseconds limit, const StopEvent& stop) {
  const auto end = steady_clock::now() + limit;
  while (true) {
    if (input_.size() >= kLengthBytes) {
      const std::int32_t size = ZkReader(input_).number();
      if (size < 0 || size > kMaxFrameBytes) {
        return base::fail(ErrorKind::kUpstreamFailed,
                          fmt::format("What answers at {} is no ZooKeeper.", address_));
      }
      const std::size_t whole = kLengthBytes + static_cast<std::size_t>(size);
      if (input_.size() >= whole) {
        std::string frame = input_.substr(kLengthBytes, static_cast<std::size_t>(size));
        input_.erase(0, whole);
        return frame;
      }
    }
    const Woken woken = stop.wait(fd_.get(), POLLIN, until(end));
    if (woken != Woken::kReady) {
      return tl::unexpected(woken == Woken::kStopped ? stopped_error(base::Applied::kUnknown)
                                                     : zk_late(address_));
    }
    std::array<char, kReadBytes> buffer{};
    const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
      input_.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      return tl::unexpected(lost(got == 0 ? 0 : errno));
    }
  }
}

}  // namespace fenceline::client
