#include "proxy/plain_transport.h"

#include <sys/sendfile.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

#include "base/asio_await.h"
#include "base/net/tcp_socket.h"
#include "base/net/unsent_pieces.h"
#include "proxy/transport_error.h"

namespace fenceline::proxy {
namespace {

namespace asio = boost::asio;
using base::Awaitable;
using base::kAwait;
using base::Result;
using base::net::adopt_socket;
using base::net::close_with_reset;
using base::net::TcpSocket;
using Unsent = base::net::UnsentPieces<Transport::kMaxPieces>;
using boost::system::error_code;

// One large file to one fast client must not keep the core from all others.
constexpr std::uint64_t kSendFileSliceBytes = std::uint64_t{2} * 1024 * 1024;

error_code last_error() { return {errno, boost::system::system_category()}; }

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

class PlainTransport final : public Transport {
 public:
  PlainTransport(TcpSocket socket, TransportOptions options)
      : Transport(std::move(options)), socket_(std::move(socket)) {}

  [[nodiscard]] bool encrypted() const override { return false; }

  Awaitable<Result<void>> handshake() override { co_return Result<void>(); }

  Awaitable<Result<std::size_t>> read_some(std::span<char> into) override {
    error_code error = asio::error::operation_aborted;
    std::size_t count = 0;
    if (!deadline_passed()) {
      const auto buffer = asio::buffer(into.data(), into.size());
      auto token = base::await_into(error);
      count = co_await socket_.async_read_some(buffer, token);
    }
    if (!error) {
      co_return count;
    }
    if (error == asio::error::eof) {
      co_return std::size_t{0};
    }
    co_return tl::unexpected(transport_error(error, deadline_passed(), "read from the client"));
  }

  Awaitable<void> let_others_run() override { co_await asio::post(socket_.get_executor(), kAwait); }

  Awaitable<Result<void>> write_all(std::span<const std::string_view> pieces,
                                    Flush flush) override {
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (flush == Flush::kMoreFollows ? MSG_MORE : 0);
    Unsent unsent(pieces);
    Result<bool> sent = send_now(unsent, flags);
    if (!sent) {
      return Awaitable<Result<void>>::ready(tl::unexpected(std::move(sent).error()));
    }
    return *sent ? Awaitable<Result<void>>::ready({}) : write_rest(unsent, flags);
  }

  Awaitable<Result<void>> send_file(int fd, std::uint64_t offset_bytes,
                                    std::uint64_t length_bytes) override {
    auto offset = static_cast<off_t>(offset_bytes);
    while (length_bytes > 0) {
      const auto slice = static_cast<std::size_t>(std::min(length_bytes, kSendFileSliceBytes));
      const ssize_t sent = ::sendfile(socket_.native_handle(), fd, &offset, slice);
      if (sent > 0) {
        length_bytes -= static_cast<std::uint64_t>(sent);
        if (length_bytes > 0) {
          co_await let_others_run();
        }
        continue;
      }
      if (sent == 0) {
        co_return base::fail(base::ErrorKind::kStorageFailed,
                             "the file became shorter while it was being sent");
      }
      if (errno == EIO) {
        co_return tl::unexpected(base::error_from_errno(errno, "read the file to send"));
      }
      const Result<bool> wait = classify_write_error();
      if (!wait) {
        co_return tl::unexpected(wait.error());
      }
      if (*wait) {
        auto writable = co_await wait_writable();
        if (!writable) {
          co_return writable;
        }
      }
    }
    co_return Result<void>();
  }

  Awaitable<void> shutdown_write() override {
    error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_send, ignored);
    co_return;
  }

  Awaitable<Result<std::size_t>> discard_some(std::span<char> scratch) override {
    return read_some(scratch);
  }

  void when_readable(std::function<void()> ready) override {
    socket_.async_wait(TcpSocket::wait_read,
                       [ready = std::move(ready)](const error_code& /*error*/) { ready(); });
  }

  [[nodiscard]] int descriptor() override { return socket_.native_handle(); }

  void close() override {
    error_code ignored;
    socket_.close(ignored);
  }

  void reset() override { close_with_reset(socket_); }

 private:
  void cancel() override {
    error_code ignored;
    socket_.cancel(ignored);
  }

  /// Sends as much as the socket takes now. True if that is all.
  Result<bool> send_now(Unsent& unsent, int flags) {
    while (!unsent.empty()) {
      const ssize_t sent = unsent.send(socket_.native_handle(), flags);
      if (sent >= 0) {
        unsent.drop(static_cast<std::size_t>(sent));
        continue;
      }
      const Result<bool> wait = classify_write_error();
      if (!wait) {
        return tl::unexpected(wait.error());
      }
      if (*wait) {
        return false;
      }
    }
    return true;
  }

  Awaitable<Result<void>> write_rest(Unsent unsent, int flags) {
    while (true) {
      auto writable = co_await wait_writable();
      if (!writable) {
        co_return writable;
      }
      const Result<bool> sent = send_now(unsent, flags);
      if (!sent) {
        co_return tl::unexpected(sent.error());
      }
      if (*sent) {
        co_return Result<void>();
      }
    }
  }

  /// After a system call that failed: true to wait for room, false to try again at once.
  Result<bool> classify_write_error() {
    if (would_block()) {
      return true;
    }
    if (errno == EINTR) {
      return false;
    }
    return tl::unexpected(transport_error(last_error(), false, "write to the client"));
  }

  Awaitable<Result<void>> wait_writable() {
    error_code error;
    auto token = base::await_into(error);
    start_deadline(write_idle());
    co_await socket_.async_wait(TcpSocket::wait_write, token);
    const bool stalled = deadline_passed();
    stop_deadline();
    if (stalled) {
      co_return base::fail(base::ErrorKind::kClientGone, "the client does not read the answer");
    }
    if (error) {
      co_return tl::unexpected(transport_error(error, false, "write to the client"));
    }
    co_return Result<void>();
  }

  TcpSocket socket_;
};

}  // namespace

Result<std::unique_ptr<Transport>> make_plain_transport(asio::io_context& context,
                                                        base::UniqueFd fd,
                                                        TransportOptions options) {
  Result<TcpSocket> socket = adopt_socket(context, std::move(fd));
  if (!socket) {
    return tl::unexpected(std::move(socket).error());
  }
  return std::make_unique<PlainTransport>(std::move(*socket), std::move(options));
}

}  // namespace fenceline::proxy
