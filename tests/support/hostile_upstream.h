#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/raw_client.h"
#include "tests/support/tls_client.h"

namespace fenceline::testing {

class HostileUpstream;

/// One connection as the upstream sees it, for its script. Blocking, with the time-out of `Wire`;
/// whatever fails, or takes too long, ends the script.
class UpstreamPeer {
 public:
  /// Of this connection, from 0 on.
  [[nodiscard]] std::size_t index() const { return index_; }

  /// Reads until so many bytes have come in all, or the end. True if they have.
  bool read_bytes(std::size_t total);

  /// Reads one whole request, framed by its own head. False if it ends before.
  bool read_request();

  /// Reads to the end of the connection. True if it ended without a reset.
  bool read_to_end();

  /// Sends; a client that has gone ends the script.
  void send(std::string_view bytes);

  /// Each of the bytes by itself, in a packet of its own.
  void send_bytewise(std::string_view bytes);

  /// No more bytes follow; reading goes on.
  void shutdown_write();

  /// Closes with RST.
  void reset();

  /// Until `HostileUpstream::tell`.
  void wait_until_told();

  /// Notes an effect, such as a write that was performed.
  void apply(std::string effect);

  /// All that has been received.
  [[nodiscard]] const std::string& received() const { return received_; }

  /// The name that the client asked for (SNI); empty without TLS.
  [[nodiscard]] std::string server_name() const;

 private:
  friend class HostileUpstream;
  UpstreamPeer(HostileUpstream& upstream, std::size_t index, std::unique_ptr<Wire> wire)
      : upstream_(upstream), index_(index), wire_(std::move(wire)) {}
  bool read_more();

  HostileUpstream& upstream_;
  std::size_t index_;
  std::unique_ptr<Wire> wire_;
  std::string received_;
  std::size_t taken_ = 0;  ///< Bytes of the requests that were read.
};

/// An upstream that does what its script says, on 127.0.0.1 and a port of the system's choice, with
/// a thread for each connection. The connection closes when the script returns. Thread-safe.
class HostileUpstream {
 public:
  using Script = std::function<void(UpstreamPeer&)>;

  /// `certificate`: speaks TLS with it. Throws `ClientError` if it cannot listen.
  explicit HostileUpstream(Script script, std::optional<TestCertificate> certificate = {});
  /// Ends the scripts that wait, and all connections.
  ~HostileUpstream();
  HostileUpstream(const HostileUpstream&) = delete;
  HostileUpstream& operator=(const HostileUpstream&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// Connections accepted so far.
  [[nodiscard]] std::size_t accepted() const;

  /// What connection `index` has received; empty if there is none.
  [[nodiscard]] std::string received(std::size_t index) const;

  /// The effects, in the order of `UpstreamPeer::apply`.
  [[nodiscard]] std::vector<std::string> applied() const;

  /// Lets one `wait_until_told` go on.
  void tell();

  /// Waits until so many scripts have returned. False after 20 s.
  [[nodiscard]] bool wait_for_ended(std::size_t scripts);

  /// Waits until connection `index` has received so many bytes. False after 20 s.
  [[nodiscard]] bool wait_for_bytes(std::size_t index, std::size_t bytes);

 private:
  friend class UpstreamPeer;
  struct Connection {
    int fd = -1;
    std::string received;
    std::thread thread;
  };

  void accept_all();
  void serve(std::size_t index, int fd);

  Script script_;
  std::optional<TestCertificate> certificate_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Connection> connections_;
  std::vector<std::string> applied_;
  std::size_t told_ = 0;
  std::size_t ended_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace fenceline::testing
