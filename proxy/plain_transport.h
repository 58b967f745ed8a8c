#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>

#include "base/error.h"
#include "base/unique_fd.h"
#include "proxy/transport.h"

namespace fenceline::proxy {

/// A transport over one accepted TCP connection without TLS.
/// Does: takes `fd` (connected, non-blocking) onto `context` and turns Nagle's algorithm off.
/// Failure: `kOverloaded` if the system refuses to watch one more descriptor.
base::Result<std::unique_ptr<Transport>> make_plain_transport(boost::asio::io_context& context,
                                                              base::UniqueFd fd,
                                                              TransportOptions options);

}  // namespace fenceline::proxy
