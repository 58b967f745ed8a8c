#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "base/async.h"
#include "base/unique_fd.h"
#include "proxy/connection_slots.h"
#include "proxy/core.h"
#include "proxy/server_options.h"

namespace fenceline::proxy {

/// What the sockets of one listener share on all cores.
struct ListenerState {
  ListenerState(ListenerOptions wanted, std::shared_ptr<TlsContext> identity, LiveConnections& all);

  ListenerOptions options;
  std::shared_ptr<TlsContext> tls;  ///< Null: plain HTTP.
  LiveConnections& live;
  Slots connections;  ///< Served.
  Slots refusals;     ///< Being told that there are too many.
};

/// One listening socket on one core: accepts, and starts a session for each connection. At the
/// limit a client is answered 503; far above it is only closed. When the process is out of
/// descriptors it stops accepting for a moment and says so, and never spins. Belongs to the thread
/// of its core, which outlives it.
class Listener {
 public:
  /// `socket` listens. Failure: throws if the core cannot watch it (start-up only).
  Listener(Core& core, std::shared_ptr<ListenerState> state, base::UniqueFd socket);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() = default;

  /// Begins to accept. Called once; may be called before the core's thread runs.
  void start();

  /// Stops accepting. The coroutine that accepts ends soon after, so destroy this only after the
  /// core's thread has been joined.
  void close();

 private:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, base::Executor>;
  using PauseTimer =
      boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                        boost::asio::wait_traits<std::chrono::steady_clock>,
                                        base::Executor>;

  /// Whether accepting may go on at once.
  enum class Next : std::uint8_t { kGoOn, kPause };

  base::Awaitable<void> run();
  Next accept_batch();
  Next refused(int reason);
  void admit(base::UniqueFd fd, std::string peer);
  void serve(base::UniqueFd fd, std::string peer, Admission admission);

  Core& core_;
  std::shared_ptr<ListenerState> state_;
  Acceptor acceptor_;
  PauseTimer pause_;
};

}  // namespace fenceline::proxy
