#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace fenceline::proxy {

/// Sockets that listen on one address, between which the kernel spreads new connections.
struct ListeningSockets {
  std::vector<base::UniqueFd> sockets;  ///< Non-blocking, closed on exec.
  std::uint16_t port = 0;               ///< The one that the system chose, if 0 was asked for.
};

/// Opens `count` (at least 1) sockets that listen on `address`, a numeric IPv4 or IPv6 address.
/// An IPv6 address takes no IPv4 connections.
/// Does: the first socket claims the address without SO_REUSEPORT, so it is refused if anybody
/// listens there, also with SO_REUSEPORT under our user, such as a second copy of this server.
/// Only then do the others join it.
/// Failure: `kInternal` with a sentence that names address, port, reason and fix.
base::Result<ListeningSockets> open_listening_sockets(const std::string& address,
                                                      std::uint16_t port, std::size_t count);

}  // namespace fenceline::proxy
