#pragma once

#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/unique_fd.h"
#include "client/source_url.h"
#include "client/stop_event.h"

namespace fenceline::client {

/// A TCP connection that carries frames: four bytes of length, and that many.
class ZkConnection {
 public:
  /// Failure: `kUpstreamFailed`, `kUpstreamTimeout`, `kClientGone`.
  static base::Result<ZkConnection> open(const SourceHost& host, base::Milliseconds limit,
                                         const StopEvent& stop);

  /// Sends one frame as a whole.
  base::Result<void> send(const std::string& frame, base::Milliseconds limit,
                          const StopEvent& stop);

  /// The next frame. Failure: `kUpstreamTimeout` at the limit: then it can be waited for again.
  base::Result<std::string> receive(base::Milliseconds limit, const StopEvent& stop);

 private:
  ZkConnection(base::UniqueFd fd, std::string address)
      : fd_(std::move(fd)), address_(std::move(address)) {}

  [[nodiscard]] base::Error lost(int error) const;

  base::UniqueFd fd_;
  std::string address_;
  std::string input_;  ///< What has come, from the beginning of a frame.
};

/// `host:port`.
std::string zk_address(const SourceHost& host);

/// Nobody answered in time.
base::Error zk_late(const std::string& address);

}  // namespace fenceline::client
