#include "tests/support/raw_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/http.h"
#include "base/unique_fd.h"

namespace fenceline::testing {
namespace {

[[noreturn]] void fail_with_errno(const std::string& what) {
  throw ClientError(what + ": " + std::strerror(errno));
}

class TcpWire final : public Wire {
 public:
  explicit TcpWire(base::UniqueFd fd) : fd_(std::move(fd)) {}

  std::optional<std::size_t> send_some(std::string_view bytes) override {
    wait_for(POLLOUT, "send");
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      return static_cast<std::size_t>(sent);
    }
    if (errno == EAGAIN || errno == EINTR) {
      return 0;
    }
    if (errno == EPIPE || errno == ECONNRESET) {
      return std::nullopt;
    }
    fail_with_errno("send");
  }

  std::string receive_some() override {
    wait_for(POLLIN, "receive");
    std::array<char, 64 * 1024> bytes{};
    const ssize_t got = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == ECONNRESET) {
      throw ConnectionReset("receive: the connection was reset");
    }
    if (got < 0) {
      fail_with_errno("receive");
    }
    return {bytes.data(), static_cast<std::size_t>(got)};
  }

  void shutdown_write() override { ::shutdown(fd_.get(), SHUT_WR); }
  [[nodiscard]] int fd() const override { return fd_.get(); }

 private:
  void wait_for(int events, const char* what) const {
    pollfd entry{.fd = fd_.get(), .events = 0, .revents = 0};
    entry.events = static_cast<decltype(entry.events)>(events);
    const int ready =
        ::poll(&entry, 1, static_cast<int>(std::chrono::milliseconds(kTimeout).count()));
    if (ready == 0) {
      throw ClientError(std::string(what) + ": nothing happened in time");
    }
    if (ready < 0 && errno != EINTR) {
      fail_with_errno(what);
    }
  }

  base::UniqueFd fd_;
};

int number(std::string_view digits, int base, const std::string& what) {
  int value = -1;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (digits.empty() || result.ec != std::errc() || result.ptr != digits.data() + digits.size() ||
      value < 0) {
    throw ClientError(what + " is not a number: " + std::string(digits));
  }
  return value;
}

}  // namespace

std::unique_ptr<Wire> connect_tcp(std::uint16_t port, int receive_buffer_bytes) {
  base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    fail_with_errno("socket");
  }
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (receive_buffer_bytes > 0) {
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes,
                 sizeof(receive_buffer_bytes));
  }
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    fail_with_errno("connect");
  }
  return std::make_unique<TcpWire>(std::move(fd));
}

std::string Response::field(std::string_view name) const {
  std::optional<std::string> found;
  for (const auto& [each, value] : fields) {
    if (base::equal_names(each, name)) {
      if (found) {
        throw ClientError("more than one field " + std::string(name));
      }
      found = value;
    }
  }
  return found.value_or("");
}

bool Response::has(std::string_view name) const {
  return std::ranges::any_of(
      fields, [name](const auto& each) { return base::equal_names(each.first, name); });
}

RawClient::RawClient(std::uint16_t port, int receive_buffer_bytes)
    : wire_(connect_tcp(port, receive_buffer_bytes)) {}

void RawClient::send(std::string_view bytes) {
  if (send_as_far_as_possible(bytes) != bytes.size()) {
    throw ClientError("the server closed while a request was being sent");
  }
}

std::size_t RawClient::send_as_far_as_possible(std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::optional<std::size_t> sent = wire_->send_some(bytes.substr(done));
    if (!sent) {
      break;
    }
    done += *sent;
  }
  return done;
}

bool RawClient::receive_more() {
  const std::string more = wire_->receive_some();
  received_ += more;
  return !more.empty();
}

std::string RawClient::take_line() {
  std::size_t end = received_.find("\r\n");
  while (end == std::string::npos) {
    if (!receive_more()) {
      throw ClientError("the connection ended in the middle of an answer: " + received_);
    }
    end = received_.find("\r\n");
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 2);
  return line;
}

std::string RawClient::take(std::size_t bytes) {
  while (received_.size() < bytes) {
    if (!receive_more()) {
      throw ClientError("the connection ended in the middle of a body");
    }
  }
  std::string taken = received_.substr(0, bytes);
  received_.erase(0, bytes);
  return taken;
}

void RawClient::read_chunks(Response& response) {
  response.chunked = true;
  while (true) {
    const int size = number(take_line(), 16, "a chunk size");
    response.body += take(static_cast<std::size_t>(size));
    if (!take_line().empty()) {
      throw ClientError("a chunk does not end with CRLF, or a trailer came");
    }
    if (size == 0) {
      return;
    }
  }
}

Response RawClient::receive(bool to_head) {
  const std::string status_line = take_line();
  if (status_line.size() < 13 || !status_line.starts_with("HTTP/1.") || status_line[8] != ' ' ||
      status_line[12] != ' ') {
    throw ClientError("not a status line: " + status_line);
  }
  Response response;
  response.minor_version = number(std::string_view(status_line).substr(7, 1), 10, "the version");
  response.status = number(std::string_view(status_line).substr(9, 3), 10, "the status");
  response.reason = status_line.substr(13);
  for (std::string line = take_line(); !line.empty(); line = take_line()) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) {
      throw ClientError("not a header field: " + line);
    }
    response.fields.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  const bool bodiless =
      to_head || response.status / 100 == 1 || response.status == 204 || response.status == 304;
  const std::string length = response.field("Content-Length");
  if (response.has("Transfer-Encoding") && !length.empty()) {
    throw ClientError("both Content-Length and Transfer-Encoding");
  }
  if (bodiless) {
    return response;
  }
  if (response.has("Transfer-Encoding")) {
    read_chunks(response);
  } else if (!length.empty()) {
    response.body = take(static_cast<std::size_t>(number(length, 10, "Content-Length")));
  } else {
    response.body = receive_to_end();
  }
  return response;
}

Response RawClient::exchange(std::string_view request, bool to_head) {
  send(request);
  return receive(to_head);
}

std::string RawClient::receive_to_end() {
  while (receive_more()) {
  }
  return std::exchange(received_, {});
}

void RawClient::expect_closed() {
  bool more = true;
  try {
    more = receive_more();
  } catch (const ConnectionReset&) {
    more = false;
  }
  if (more) {
    throw ClientError("expected the end of the connection, got: " + received_);
  }
}

bool RawClient::ended_cleanly() { return !receive_more() && received_.empty(); }

void RawClient::wait_for_bytes(std::size_t bytes) {
  while (received_.size() < bytes) {
    if (!receive_more()) {
      throw ClientError("the connection ended early: " + received_);
    }
  }
}

void RawClient::reset() {
  const linger option{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(wire_->fd(), SOL_SOCKET, SO_LINGER, &option, sizeof(option));
  wire_.reset();
}

}  // namespace fenceline::testing
