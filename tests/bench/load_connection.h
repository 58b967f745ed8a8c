#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace fenceline::bench {

/// One keep-alive connection that has at most one request under way. It reads only as much of an
/// answer as it must: bodies are dropped in the kernel, so that the measured server and not this
/// client is busy. Single-threaded; every failure throws std::runtime_error.
class LoadConnection {
 public:
  /// Connects to 127.0.0.1:`port` and waits for that.
  explicit LoadConnection(std::uint16_t port);

  [[nodiscard]] int fd() const { return fd_.get(); }

  /// Starts a request: `head` with its empty line, then `body`, which must live until the answer.
  void send(std::string head, std::string_view body);

  /// Sends what the socket takes. True if something is left: call again when it is writable.
  [[nodiscard]] bool flush();

  /// Reads what is there. True if the answer is complete.
  [[nodiscard]] bool receive();

  /// Of the last complete answer.
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] std::uint64_t body_bytes() const { return body_bytes_; }

 private:
  void read_head();

  base::UniqueFd fd_;
  std::string head_;
  std::string_view body_;
  std::size_t sent_ = 0;  ///< Of head and body together.
  std::string answer_;    ///< The answer's head, as far as it came.
  bool in_body_ = false;
  int status_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::uint64_t left_bytes_ = 0;  ///< Of the answer's body.
};

}  // namespace fenceline::bench
