#include "base/net/tcp_socket.h"

#include <fmt/format.h>

#include <boost/system/error_code.hpp>
#include <utility>

namespace fenceline::base::net {

Result<TcpSocket> adopt_socket(boost::asio::io_context& context, UniqueFd fd) {
  TcpSocket socket(context);
  boost::system::error_code error;
  // Asio keeps the protocol for opening sockets only, which never happens here: v4 fits v6 too.
  socket.assign(boost::asio::ip::tcp::v4(), fd.get(), error);
  if (error) {
    return fail(ErrorKind::kOverloaded,
                fmt::format("cannot watch one more connection: {}", error.message()));
  }
  fd.release();
  // A connection that is already gone refuses options; its first read tells.
  socket.set_option(boost::asio::ip::tcp::no_delay(true), error);
  return socket;
}

void close_with_reset(TcpSocket& socket) {
  boost::system::error_code ignored;
  socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

}  // namespace fenceline::base::net
