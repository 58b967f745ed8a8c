#include "proxy/tcp_socket.h"

#include <fmt/format.h>

#include <boost/asio/error.hpp>
#include <utility>

namespace fenceline::proxy {

base::Result<TcpSocket> adopt_socket(boost::asio::io_context& context, base::UniqueFd fd) {
  TcpSocket socket(context);
  boost::system::error_code error;
  // Asio keeps the protocol for opening sockets only, which never happens here: v4 fits v6 too.
  socket.assign(boost::asio::ip::tcp::v4(), fd.get(), error);
  if (error) {
    return base::fail(base::ErrorKind::kOverloaded,
                      fmt::format("cannot watch one more connection: {}", error.message()));
  }
  fd.release();
  // A connection that is already gone refuses options; its first read tells.
  socket.set_option(boost::asio::ip::tcp::no_delay(true), error);
  return socket;
}

base::Error transport_error(const boost::system::error_code& error, bool deadline_passed,
                            std::string_view what) {
  using base::ErrorKind;
  if (deadline_passed) {
    return {ErrorKind::kRequestTimeout, fmt::format("{}: the time for it is over", what)};
  }
  if (error == boost::asio::error::operation_aborted ||
      error == boost::asio::error::bad_descriptor) {
    return {ErrorKind::kShuttingDown, fmt::format("{}: the server closed the connection", what)};
  }
  return {ErrorKind::kClientGone, fmt::format("{}: {}", what, error.message())};
}

void close_with_reset(TcpSocket& socket) {
  boost::system::error_code ignored;
  socket.set_option(boost::asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

}  // namespace fenceline::proxy
