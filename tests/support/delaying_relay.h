#pragma once

// A relay between a proxy and its upstream that keeps requests back and delivers them later, also
// when their sender has closed its connection long ago: what a network, or a queue in front of a
// server, may do with a write.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace fenceline::testing {

/// Forwards every connection to a port of 127.0.0.1, with a thread for each. Thread-safe.
class DelayingRelay {
 public:
  explicit DelayingRelay(std::uint16_t to);
  ~DelayingRelay();
  DelayingRelay(const DelayingRelay&) = delete;
  DelayingRelay& operator=(const DelayingRelay&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// The next `count` requests that begin with these bytes are parked: the upstream gets nothing of
  /// them, nor of what follows on their connections. A request begins where a piece from the client
  /// begins, so this is not for clients that pipeline.
  void park(const std::string& beginning, std::size_t count = 1);

  /// All that come from now on pass again; what is parked stays.
  void pass(const std::string& beginning);

  /// Waits until so many of these are parked.
  void wait_for_parked(const std::string& beginning, std::size_t count = 1);

  /// For each parked one, oldest first: waits until its sender has closed the connection, sends it
  /// to the upstream and waits for the answer. Gives the first line of each answer; empty if the
  /// upstream closed without one.
  std::vector<std::string> deliver(const std::string& beginning);

 private:
  struct Connection {
    base::UniqueFd client;
    base::UniqueFd upstream;
    std::string beginning;  ///< Of the request that is parked; empty: none is.
    std::string parked;
    bool delivered = false;
    bool client_has_closed = false;
    std::string answer;  ///< What came for a client that has gone.
    bool upstream_has_closed = false;
  };

  void accept_connections();
  void serve(Connection& connection);
  bool take_from_client(Connection& connection);
  bool take_from_upstream(Connection& connection);
  bool parks(Connection& connection, std::string_view piece);
  std::vector<Connection*> parked_like(const std::string& beginning);

  const std::uint16_t to_;
  std::uint16_t port_ = 0;  // Before the listener, which sets it.
  base::UniqueFd listener_;
  std::atomic<bool> ending_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::size_t> to_park_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace fenceline::testing
