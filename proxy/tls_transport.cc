#include "proxy/tls_transport.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cerrno>
#include <utility>
#include <vector>

#include "base/asio_await.h"
#include "base/net/tcp_socket.h"
#include "proxy/tls_context.h"
#include "proxy/transport_error.h"

namespace fenceline::proxy {
namespace {

namespace asio = boost::asio;
using base::Awaitable;
using base::Result;
using base::net::adopt_socket;
using base::net::close_with_reset;
using base::net::TcpSocket;
using boost::system::error_code;

constexpr std::uint64_t kFilePieceBytes = std::uint64_t{128} * 1024;

/// What is not sent yet, as Asio takes it. Asio joins small pieces into one record itself.
class Unsent {
 public:
  explicit Unsent(std::span<const std::string_view> pieces) {
    const std::size_t count = std::min(pieces.size(), buffers_.size());
    for (std::size_t i = 0; i < count; ++i) {
      buffers_.at(i) = asio::buffer(pieces[i].data(), pieces[i].size());
    }
  }

  [[nodiscard]] bool empty() const { return asio::buffer_size(buffers_) == 0; }
  [[nodiscard]] const auto& buffers() const { return buffers_; }

  void drop(std::size_t bytes) {
    for (asio::const_buffer& buffer : buffers_) {
      const std::size_t here = std::min(bytes, buffer.size());
      buffer += here;
      bytes -= here;
    }
  }

 private:
  std::array<asio::const_buffer, Transport::kMaxPieces> buffers_;
};

bool is_end(const error_code& error) {
  // Without close_notify the end may be forged; a message says itself whether it is complete.
  return error == asio::error::eof || error == asio::ssl::error::stream_truncated;
}

class TlsTransport final : public Transport {
 public:
  TlsTransport(TcpSocket socket, std::shared_ptr<TlsContext> tls, TransportOptions options)
      : Transport(std::move(options)),
        tls_(std::move(tls)),
        stream_(std::move(socket), tls_->context()) {}

  [[nodiscard]] bool encrypted() const override { return true; }

  Awaitable<Result<void>> handshake() override {
    error_code error;
    auto token = base::await_into(error);
    co_await stream_.async_handshake(asio::ssl::stream_base::server, token);
    if (error) {
      co_return tl::unexpected(transport_error(error, deadline_passed(), "TLS handshake"));
    }
    co_return Result<void>();
  }

  Awaitable<Result<std::size_t>> read_some(std::span<char> into) override {
    error_code error = asio::error::operation_aborted;
    std::size_t count = 0;
    if (!deadline_passed()) {
      const auto buffer = asio::buffer(into.data(), into.size());
      auto token = base::await_into(error);
      count = co_await stream_.async_read_some(buffer, token);
    }
    if (!error) {
      co_return count;
    }
    if (is_end(error)) {
      co_return std::size_t{0};
    }
    co_return tl::unexpected(transport_error(error, deadline_passed(), "read from the client"));
  }

  Awaitable<void> let_others_run() override {
    co_await asio::post(stream_.get_executor(), base::kAwait);
  }

  Awaitable<Result<void>> write_all(std::span<const std::string_view> pieces,
                                    Flush /*flush*/) override {
    Unsent unsent(pieces);
    error_code error;
    auto token = base::await_into(error);
    while (!unsent.empty()) {
      start_deadline(write_idle());
      const auto sent = co_await stream_.async_write_some(unsent.buffers(), token);
      const bool stalled = deadline_passed();
      stop_deadline();
      if (stalled) {
        co_return base::fail(base::ErrorKind::kClientGone, "the client does not read the answer");
      }
      if (error) {
        co_return tl::unexpected(transport_error(error, false, "write to the client"));
      }
      unsent.drop(sent);
    }
    co_return Result<void>();
  }

  Awaitable<Result<void>> send_file(int fd, std::uint64_t offset_bytes,
                                    std::uint64_t length_bytes) override {
    std::vector<char> piece(std::min(length_bytes, kFilePieceBytes));
    while (length_bytes > 0) {
      const auto wanted = std::min<std::uint64_t>(length_bytes, piece.size());
      const ssize_t got = ::pread(fd, piece.data(), wanted, static_cast<off_t>(offset_bytes));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got < 0) {
        co_return tl::unexpected(base::error_from_errno(errno, "read the file to send"));
      }
      if (got == 0) {
        co_return base::fail(base::ErrorKind::kStorageFailed,
                             "the file became shorter while it was being sent");
      }
      const std::array<std::string_view, 1> pieces{
          std::string_view(piece.data(), static_cast<std::size_t>(got))};
      auto sent = co_await write_all(pieces, Flush::kMoreFollows);
      if (!sent) {
        co_return sent;
      }
      offset_bytes += static_cast<std::uint64_t>(got);
      length_bytes -= static_cast<std::uint64_t>(got);
    }
    co_return Result<void>();
  }

  Awaitable<void> shutdown_write() override {
    error_code ignored;
    auto token = base::await_into(ignored);
    if (!deadline_passed()) {
      // Sends close_notify, then waits for the client's. A client that is still sending its body
      // makes that wait fail at once, which is fine: only the sending matters here.
      co_await stream_.async_shutdown(token);
    }
    stream_.next_layer().shutdown(asio::socket_base::shutdown_send, ignored);
  }

  Awaitable<Result<std::size_t>> discard_some(std::span<char> scratch) override {
    error_code error = asio::error::operation_aborted;
    std::size_t count = 0;
    if (!deadline_passed()) {
      const auto buffer = asio::buffer(scratch.data(), scratch.size());
      auto token = base::await_into(error);
      count = co_await stream_.next_layer().async_read_some(buffer, token);
    }
    if (!error) {
      co_return count;
    }
    if (error == asio::error::eof) {
      co_return std::size_t{0};
    }
    co_return tl::unexpected(transport_error(error, deadline_passed(), "read from the client"));
  }

  void when_readable(std::function<void()> ready) override {
    stream_.next_layer().async_wait(
        TcpSocket::wait_read, [ready = std::move(ready)](const error_code& /*error*/) { ready(); });
  }

  [[nodiscard]] int descriptor() override { return stream_.next_layer().native_handle(); }

  void close() override {
    error_code ignored;
    stream_.next_layer().close(ignored);
  }

  void reset() override { close_with_reset(stream_.next_layer()); }

 private:
  void cancel() override {
    error_code ignored;
    stream_.next_layer().cancel(ignored);
  }

  std::shared_ptr<TlsContext> tls_;
  asio::ssl::stream<TcpSocket> stream_;
};

}  // namespace

Result<std::unique_ptr<Transport>> make_tls_transport(asio::io_context& context, base::UniqueFd fd,
                                                      std::shared_ptr<TlsContext> tls,
                                                      TransportOptions options) {
  Result<TcpSocket> socket = adopt_socket(context, std::move(fd));
  if (!socket) {
    return tl::unexpected(std::move(socket).error());
  }
  return std::make_unique<TlsTransport>(std::move(*socket), std::move(tls), std::move(options));
}

}  // namespace fenceline::proxy
