#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fenceline::testing {

/// What a client expected did not happen in time, or the connection failed: the message says what.
class ClientError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The server, or the system, reset the connection.
class ConnectionReset : public ClientError {
 public:
  using ClientError::ClientError;
};

/// The bytes of a client's connection: TCP here, TLS in `tests/support/tls_client.h`. Blocking; an
/// operation that takes longer than the time-out throws `ClientError`.
class Wire {
 public:
  static constexpr std::chrono::seconds kTimeout{20};

  Wire() = default;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  virtual ~Wire() = default;

  /// Sends some of `bytes` and returns how many; nothing if the peer has closed or reset.
  virtual std::optional<std::size_t> send_some(std::string_view bytes) = 0;
  /// What has arrived, at least one byte; empty at the end. Throws `ConnectionReset`.
  virtual std::string receive_some() = 0;
  virtual void shutdown_write() = 0;
  /// The TCP socket below.
  [[nodiscard]] virtual int fd() const = 0;
};

/// One parsed answer.
struct Response {
  int status = 0;
  int minor_version = 1;
  std::string reason;
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;  ///< Without chunk framing.
  bool chunked = false;

  /// The value of the only field of this name, in any case; empty if there is none. Throws
  /// `ClientError` if there are several.
  [[nodiscard]] std::string field(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
};

/// A client that sends exactly the bytes it is told to and parses answers strictly. Everything
/// waits with a deadline and throws `ClientError` instead of hanging.
class RawClient {
 public:
  /// Connects to 127.0.0.1. `receive_buffer_bytes` makes the kernel take less (0: its default).
  explicit RawClient(std::uint16_t port, int receive_buffer_bytes = 0);
  explicit RawClient(std::unique_ptr<Wire> wire) : wire_(std::move(wire)) {}

  /// Sends everything; throws if the server does not take it.
  void send(std::string_view bytes);

  /// Sends until everything is out or the server has closed; returns how many bytes went out.
  std::size_t send_as_far_as_possible(std::string_view bytes);

  /// Reads one answer, also interim ones (1xx). `to_head`: it answers a HEAD request, so no body
  /// follows whatever its head says.
  Response receive(bool to_head = false);

  /// Sends a request and reads its answer.
  Response exchange(std::string_view request, bool to_head = false);

  /// Reads up to the end of the connection and returns what came. Throws `ConnectionReset`.
  std::string receive_to_end();

  /// Waits until the server closes; throws if any byte comes first. A reset counts as closed.
  void expect_closed();

  /// True if the server closes without a reset and nothing came before that.
  bool ended_cleanly();

  /// Reads at least `bytes` bytes, and keeps them for `receive`.
  void wait_for_bytes(std::size_t bytes);

  /// What was received and not yet parsed.
  [[nodiscard]] const std::string& received() const { return received_; }

  void shutdown_write() { wire_->shutdown_write(); }
  void close() { wire_.reset(); }

  /// Closes with RST.
  void reset();

  [[nodiscard]] int fd() const { return wire_->fd(); }

 private:
  bool receive_more();
  std::string take_line();
  std::string take(std::size_t bytes);
  void read_chunks(Response& response);

  std::unique_ptr<Wire> wire_;
  std::string received_;
};

/// A TCP connection to 127.0.0.1.
std::unique_ptr<Wire> connect_tcp(std::uint16_t port, int receive_buffer_bytes = 0);

}  // namespace fenceline::testing
