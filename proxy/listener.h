#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "base/async.h"
#include "base/unique_fd.h"
#include "proxy/connection_slots.h"
#include "proxy/core.h"
#include "proxy/server_options.h"

namespace fenceline::proxy {

/// What the connections of one listener share on all cores, however often its options change.
struct ListenerState {
  ListenerState(std::string called, std::size_t max_connections, LiveConnections& all);

  const std::string name;
  LiveConnections& live;
  Slots connections;  ///< Served.
  Slots refusals;     ///< Being told that there are too many.
};

/// What new connections get.
struct ListenerSetup {
  std::shared_ptr<const ListenerOptions> options;
  std::shared_ptr<TlsContext> tls;  ///< Null: plain HTTP.
};

/// One listening socket on one core: accepts, and starts a session for each connection. At the
/// limit a client is answered 503; far above it is only closed. When the process is out of
/// descriptors it stops accepting for a moment and says so, and never spins. Belongs to the thread
/// of its core, which outlives it; may be made, and destroyed before `start`, on another.
class Listener : public std::enable_shared_from_this<Listener> {
 public:
  /// `socket` listens. Failure: throws `std::runtime_error` if the core cannot watch it.
  Listener(Core& core, std::shared_ptr<ListenerState> state, ListenerSetup setup,
           base::UniqueFd socket);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() = default;

  /// Begins to accept. Called once; may be called before the core's thread runs.
  void start();

  /// From now on new connections get this.
  void adopt(ListenerSetup setup) { setup_ = std::move(setup); }

  /// Stops accepting. The coroutine that accepts ends soon after; it keeps this alive until then.
  void close();

  /// As `close`, but first takes the connections that wait: closing would reset them.
  void close_after_those_that_wait();

 private:
  using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, base::Executor>;
  using PauseTimer =
      boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                        boost::asio::wait_traits<std::chrono::steady_clock>,
                                        base::Executor>;

  /// What follows after a batch: more may wait, nobody waits, or it must wait itself.
  enum class Next : std::uint8_t { kGoOn, kIdle, kPause };

  static base::Awaitable<void> run(std::shared_ptr<Listener> self);
  base::Awaitable<void> accept_until_closed();
  Next accept_batch();
  Next refused(int reason);
  void admit(base::UniqueFd fd, std::string peer);
  void serve(base::UniqueFd fd, std::string peer, Admission admission);

  Core& core_;
  std::shared_ptr<ListenerState> state_;
  ListenerSetup setup_;
  Acceptor acceptor_;
  PauseTimer pause_;
};

}  // namespace fenceline::proxy
