#pragma once

// What every TCP connection begins and ends with, whoever opened it.

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/async.h"
#include "base/error.h"
#include "base/unique_fd.h"

namespace fenceline::base::net {

using TcpSocket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;

/// Puts a connected, non-blocking descriptor onto a core and sets TCP_NODELAY.
/// Failure: `kOverloaded` if the reactor cannot take one more descriptor; `fd` is closed.
Result<TcpSocket> adopt_socket(boost::asio::io_context& context, UniqueFd fd);

/// Closes with RST: unsent bytes are dropped, the peer sees an error.
void close_with_reset(TcpSocket& socket);

}  // namespace fenceline::base::net
