#include "tests/bench/load_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace fenceline::bench {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/// The value of a field in an answer's head, whatever the case of its name; empty without it.
std::string_view field(std::string_view head, std::string_view name) {
  for (std::size_t at = head.find("\r\n"); at != std::string_view::npos;) {
    const std::size_t start = at + 2;
    at = head.find("\r\n", start);
    const std::string_view line = head.substr(start, at - start);
    const bool same = line.size() > name.size() && line[name.size()] == ':' &&
                      std::equal(name.begin(), name.end(), line.begin(), [](char a, char b) {
                        return a == std::tolower(static_cast<unsigned char>(b));
                      });
    if (same) {
      const std::size_t value = line.find_first_not_of(' ', name.size() + 1);
      return value == std::string_view::npos ? std::string_view() : line.substr(value);
    }
  }
  return {};
}

std::uint64_t number(std::string_view digits, const std::string& answer) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
  if (error != std::errc() || end != digits.end()) {
    throw std::runtime_error("an answer that this client does not understand:\n" + answer);
  }
  return value;
}

}  // namespace

LoadConnection::LoadConnection(std::uint16_t port)
    : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the socket interface wants it.
  if (!fd_.valid() || ::connect(fd(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    fail("cannot connect");
  }
  if (::setsockopt(fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
    fail("cannot set TCP_NODELAY");
  }
}

void LoadConnection::send(std::string head, std::string_view body) {
  head_ = std::move(head);
  body_ = body;
  sent_ = 0;
  answer_.clear();
  in_body_ = false;
}

bool LoadConnection::flush() {
  const std::size_t all = head_.size() + body_.size();
  while (sent_ < all) {
    const std::size_t of_head = std::min(sent_, head_.size());
    const std::string_view body = body_.substr(sent_ - of_head);
    std::array<iovec, 2> parts{};
    parts[0] = {head_.data() + of_head, head_.size() - of_head};
    parts[1] = {const_cast<char*>(body.data()), body.size()};  // NOLINT: sendmsg only reads.
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t count = ::sendmsg(fd(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0) {
      if (would_block()) {
        return true;
      }
      fail("cannot send a request");
    }
    sent_ += static_cast<std::size_t>(count);
  }
  return false;
}

bool LoadConnection::receive() {
  while (true) {
    if (in_body_ && left_bytes_ == 0) {
      return true;
    }
    std::array<char, 4096> buffer{};
    // MSG_TRUNC on TCP drops the bytes without copying them.
    const std::size_t wanted =
        in_body_ ? std::min<std::size_t>(left_bytes_, 1U << 30U) : buffer.size();
    const ssize_t count =
        ::recv(fd(), buffer.data(), wanted, MSG_DONTWAIT | (in_body_ ? MSG_TRUNC : 0));
    if (count < 0) {
      if (would_block()) {
        return false;
      }
      fail("cannot read an answer");
    }
    if (count == 0) {
      throw std::runtime_error("the server closed a connection; of the answer came:\n" + answer_);
    }
    if (in_body_) {
      left_bytes_ -= static_cast<std::uint64_t>(count);
    } else {
      answer_.append(buffer.data(), static_cast<std::size_t>(count));
      read_head();
    }
  }
}

void LoadConnection::read_head() {
  const std::size_t end = answer_.find("\r\n\r\n");
  if (end == std::string::npos) {
    return;
  }
  const std::string_view head = std::string_view(answer_).substr(0, end);
  status_ =
      head.starts_with("HTTP/1.1 ") ? static_cast<int>(number(head.substr(9, 3), answer_)) : 0;
  const std::string_view length = field(head, "content-length");
  body_bytes_ = length.empty() ? 0 : number(length, answer_);
  const std::size_t came = answer_.size() - end - 4;
  if (status_ < 200 || status_ > 299 || (length.empty() && status_ != 204) || came > body_bytes_) {
    throw std::runtime_error("not the answer that was expected:\n" + answer_.substr(0, 1000));
  }
  left_bytes_ = body_bytes_ - came;
  in_body_ = true;
}

}  // namespace fenceline::bench
