#pragma once

// One connection to an upstream, plain or TLS. Not the `Transport` of the server: a client must
// hear an answer that comes while it still sends, and must tell an answer from what TLS says by
// itself.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/async.h"
#include "base/net/tcp_socket.h"
#include "base/net/unsent_pieces.h"
#include "base/timer_wheel.h"

namespace fenceline::base::net {

class Pool;

/// What one attempt to move bytes has led to.
enum class IoStatus : std::uint8_t {
  kMoved,    ///< Reading: at least one byte. Writing: all of it.
  kBlocked,  ///< Nothing to read, or no room to write; try again after a wait.
  kEnded,    ///< The upstream has said that nothing follows. Reading only.
  kFailed,   ///< The connection is broken, see `Connection::why`; or its deadline has passed.
};

struct Io {
  IoStatus status = IoStatus::kFailed;
  std::size_t bytes = 0;  ///< That were read.
};

/// Counts one open connection, from before it is dialled.
class ConnectionSlot {
 public:
  explicit ConnectionSlot(Pool& pool);
  ConnectionSlot(ConnectionSlot&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)) {}
  ConnectionSlot& operator=(ConnectionSlot&&) = delete;
  ~ConnectionSlot();

  [[nodiscard]] Pool& pool() const { return *pool_; }

 private:
  Pool* pool_;
};

/// On one core; one coroutine waits for it at any time. Destroying it closes it.
class Connection {
 public:
  static constexpr std::size_t kMaxPieces = 8;
  using Unsent = UnsentPieces<kMaxPieces>;

  Connection(TcpSocket socket, ConnectionSlot slot, TimerWheel& timers)
      : slot_(std::move(slot)),
        socket_(std::move(socket)),
        deadline_(timers, [this] { on_deadline(); }) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  virtual ~Connection() = default;

  /// TLS up to the point where requests may be sent; nothing on a plain connection. Waits, with the
  /// deadline that was started. False: see `why`.
  virtual Awaitable<bool> secure() = 0;

  /// Sends without waiting, as much as is taken, and drops that from `unsent`.
  virtual Io write_now(Unsent& unsent) = 0;

  /// Reads what is there, without waiting.
  virtual Io read_now(std::span<char> into) = 0;

  /// Reads; waits for something with the deadline that was started.
  virtual Awaitable<Io> read(std::span<char> into) = 0;

  /// True if nothing has arrived that nobody has read, and the upstream has not closed.
  virtual bool quiet() = 0;

  /// Waits until there is something to read or, with `or_writable`, room to write; or until the
  /// deadline. False if the deadline passed or the socket is closed.
  Awaitable<bool> wait(bool or_writable);

  /// Closes so that the upstream sees an error: what it has of a message is not all of it.
  void reset() { close_with_reset(socket_); }

  /// From `after` on waiting fails, until it is started again or stopped.
  void start_deadline(Milliseconds after) {
    late_ = false;
    deadline_.arm(after);
  }
  void stop_deadline() {
    late_ = false;
    deadline_.disarm();
  }
  [[nodiscard]] bool late() const { return late_; }

  /// Idle from now on: the deadline then gives it to `Pool::expire` instead of ending a wait.
  void rest(Milliseconds keep_alive) {
    idle_ = true;
    start_deadline(keep_alive);
  }

  /// Begins with the next request.
  void wake() {
    idle_ = false;
    touched_ = false;
    stop_deadline();
  }

  /// True once a byte may have left since `wake`.
  [[nodiscard]] bool touched() const { return touched_; }

  /// The reason after `kFailed`, for people.
  [[nodiscard]] const std::string& why() const { return why_; }

 protected:
  [[nodiscard]] TcpSocket& socket() { return socket_; }
  void set_touched() { touched_ = true; }
  Io fail(std::string why) {
    why_ = std::move(why);
    return {.status = IoStatus::kFailed};
  }

 private:
  void on_deadline();

  ConnectionSlot slot_;  ///< Given back after the socket was closed.
  TcpSocket socket_;
  Timer deadline_;
  std::string why_;
  bool late_ = false;
  bool idle_ = false;
  bool touched_ = false;
};

/// A connection without TLS.
std::unique_ptr<Connection> make_plain_connection(TcpSocket socket, ConnectionSlot slot,
                                                  TimerWheel& timers);

}  // namespace fenceline::base::net
