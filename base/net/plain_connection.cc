#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <system_error>

#include "base/asio_await.h"
#include "base/net/connection.h"

namespace fenceline::base::net {
namespace {

using boost::system::error_code;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

class PlainConnection final : public Connection {
 public:
  using Connection::Connection;

  Awaitable<bool> secure() override { return Awaitable<bool>::ready(true); }

  Io write_now(Unsent& unsent) override {
    while (!unsent.empty()) {
      const ssize_t sent = unsent.send(socket().native_handle(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        set_touched();
        unsent.drop(static_cast<std::size_t>(sent));
      } else if (would_block()) {
        return {.status = IoStatus::kBlocked};
      } else if (errno != EINTR) {
        return fail(std::generic_category().message(errno));
      }
    }
    return {.status = IoStatus::kMoved};
  }

  Io read_now(std::span<char> into) override {
    while (true) {
      const ssize_t got = ::recv(socket().native_handle(), into.data(), into.size(), MSG_DONTWAIT);
      if (got > 0) {
        return {.status = IoStatus::kMoved, .bytes = static_cast<std::size_t>(got)};
      }
      if (got == 0) {
        return {.status = IoStatus::kEnded};
      }
      if (would_block()) {
        return {.status = IoStatus::kBlocked};
      }
      if (errno != EINTR) {
        return fail(std::generic_category().message(errno));
      }
    }
  }

  Awaitable<Io> read(std::span<char> into) override {
    error_code error = boost::asio::error::operation_aborted;
    std::size_t count = 0;
    if (!late()) {
      const auto buffer = boost::asio::buffer(into.data(), into.size());
      auto token = await_into(error);
      count = co_await socket().async_read_some(buffer, token);
    }
    if (!error) {
      const Io moved{.status = IoStatus::kMoved, .bytes = count};
      co_return moved;
    }
    if (error == boost::asio::error::eof) {
      const Io ended{.status = IoStatus::kEnded};
      co_return ended;
    }
    co_return fail(error.message());
  }

  bool quiet() override {
    char first = 0;
    const ssize_t got =
        ::recv(socket().native_handle(), &first, sizeof(first), MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && would_block();
  }
};

}  // namespace

std::unique_ptr<Connection> make_plain_connection(TcpSocket socket, ConnectionSlot slot,
                                                  TimerWheel& timers) {
  return std::make_unique<PlainConnection>(std::move(socket), std::move(slot), timers);
}

}  // namespace fenceline::base::net
