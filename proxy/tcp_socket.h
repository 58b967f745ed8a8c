#pragma once

// What the plain and the TLS transport share. Included by their .cc files only.

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <string_view>

#include "base/async.h"
#include "base/error.h"
#include "base/unique_fd.h"

namespace fenceline::proxy {

using TcpSocket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, base::Executor>;

/// Puts an accepted descriptor onto a core and sets TCP_NODELAY.
/// Failure: `kOverloaded` if the reactor cannot take one more descriptor; `fd` is closed.
base::Result<TcpSocket> adopt_socket(boost::asio::io_context& context, base::UniqueFd fd);

/// Why an operation of the connection ended: see `Transport`. `what` names the operation.
base::Error transport_error(const boost::system::error_code& error, bool deadline_passed,
                            std::string_view what);

/// Closes with RST: unsent bytes are dropped, the peer sees an error.
void close_with_reset(TcpSocket& socket);

}  // namespace fenceline::proxy
