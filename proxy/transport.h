#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/async.h"
#include "base/error.h"
#include "base/timer_wheel.h"

namespace fenceline::proxy {

/// Whether more bytes of the same answer follow at once, so that a short packet should wait.
enum class Flush : std::uint8_t { kNow, kMoreFollows };

struct TransportOptions {
  base::TimerWheel& timers;       ///< Of the core that the connection lives on.
  base::Milliseconds write_idle;  ///< A write without any progress for so long fails.
  std::string peer;               ///< "address:port", for logs.
};

/// The bytes of one connection, plain or TLS. Lives on one core; at most one operation waits at any
/// time. An operation that was cut short by `close` fails with `kShuttingDown`, by the deadline
/// with `kRequestTimeout`, by the peer with `kClientGone`.
class Transport {
 public:
  /// The most pieces that one `write_all` takes.
  static constexpr std::size_t kMaxPieces = 4;

  explicit Transport(TransportOptions options)
      : write_idle_(options.write_idle),
        peer_(std::move(options.peer)),
        deadline_(options.timers, [this] { on_deadline(); }) {}
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Makes the connection ready for the first byte: the TLS handshake; nothing on a plain one.
  /// Failure: `kClientGone` if the handshake failed; `kRequestTimeout`.
  virtual base::Awaitable<base::Result<void>> handshake() = 0;

  /// Waits for bytes and reads what is there, at most `into.size()` (not 0).
  /// Success: the number of bytes; 0 when the peer will send no more.
  /// Failure: see the class. Ownership: `into` must outlive the call.
  virtual base::Awaitable<base::Result<std::size_t>> read_some(std::span<char> into) = 0;

  /// Lets everything run that is ready on this core, and goes on then: a busy client has sent its
  /// next request meanwhile, so reading does not begin with a call that finds nothing.
  virtual base::Awaitable<void> let_others_run() = 0;

  /// Sends all pieces, in order, in as few system calls as possible; waits only when the peer does
  /// not take them. At most `kMaxPieces`.
  /// Failure: `kClientGone`, also when nothing moved for `write_idle`: some bytes may have gone
  /// out, so only closing is left. Ownership: pieces and bytes must outlive the call.
  virtual base::Awaitable<base::Result<void>> write_all(std::span<const std::string_view> pieces,
                                                        Flush flush) = 0;

  /// Sends `length_bytes` of the file from `offset_bytes`, without copying where possible.
  /// Failure: as `write_all`; `kStorageFailed` if the file cannot be read or is shorter: the answer
  /// is broken off in the middle, so only `reset` is left. The caller keeps `fd` open.
  virtual base::Awaitable<base::Result<void>> send_file(int fd, std::uint64_t offset_bytes,
                                                        std::uint64_t length_bytes) = 0;

  /// Tells the peer that no more bytes follow (TLS: also `close_notify`, RFC 8446, 6.1). Reading
  /// goes on, by `discard_some` only. Errors are ignored: the peer may be gone.
  virtual base::Awaitable<void> shutdown_write() = 0;

  /// Waits for bytes after `shutdown_write` and drops them; on TLS the undecrypted ones.
  /// Success and failure: as `read_some`. `scratch` is only a place to read to.
  virtual base::Awaitable<base::Result<std::size_t>> discard_some(std::span<char> scratch) = 0;

  /// Calls `ready` once, never inside this call, when bytes or the end have arrived, or after
  /// `stop_waiting` or `close`: also then with the transport perhaps gone. Reads nothing. Counts as
  /// the one operation that waits.
  virtual void when_readable(std::function<void()> ready) = 0;

  /// Ends `when_readable` early. Not while anything else waits.
  void stop_waiting() { cancel(); }

  /// The socket, to look at; negative once it is closed.
  [[nodiscard]] virtual int descriptor() = 0;

  /// Closes. What waits goes on with a failure. Calling it again does nothing.
  virtual void close() = 0;

  /// Closes so that the peer sees an error (TCP RST) and does not take a truncated answer for a
  /// complete one.
  virtual void reset() = 0;

  /// Starts the deadline: from `after` on everything that waits, or starts to wait, fails with
  /// `kRequestTimeout`, until it is started again or stopped. Restarting replaces it. `write_all`
  /// and `send_file` use it for `write_idle` and stop it.
  void start_deadline(base::Milliseconds after) {
    deadline_passed_ = false;
    deadline_.arm(after);
  }

  void stop_deadline() {
    deadline_passed_ = false;
    deadline_.disarm();
  }

  /// True for TLS. Constant.
  [[nodiscard]] virtual bool encrypted() const = 0;

  [[nodiscard]] std::string_view peer() const { return peer_; }

 protected:
  /// Lets what waits go on with a failure; the connection stays open.
  virtual void cancel() = 0;

  [[nodiscard]] bool deadline_passed() const { return deadline_passed_; }
  [[nodiscard]] base::Milliseconds write_idle() const { return write_idle_; }

 private:
  void on_deadline() {
    deadline_passed_ = true;
    cancel();
  }

  base::Milliseconds write_idle_;
  std::string peer_;
  bool deadline_passed_ = false;
  base::Timer deadline_;
};

}  // namespace fenceline::proxy
