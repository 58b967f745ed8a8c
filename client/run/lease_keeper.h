#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "client/token_source.h"

namespace fenceline::client {

/// What the keeper has to tell.
struct KeeperNews {
  enum class Kind : std::uint8_t {
    kWarning,   ///< `error.detail` is a sentence about the source.
    kRefused,   ///< There is no lease; `error`. The last one.
    kAcquired,  ///< `grant`.
    kRenewed,   ///< `grant`, with its new end.
    kTrouble,   ///< A renewal failed, and is tried again; once until the next success.
    kLost,      ///< `error` says why; `grant` is the last that is known. No more renewals.
    kReleased,  ///< Or given up, then `error.detail` says why. The last one.
  };

  Kind kind = Kind::kWarning;
  Grant grant = {};
  base::Error error = {};
};

/// Takes one lease and keeps it, in a thread of its own, which alone uses the source.
class LeaseKeeper {
 public:
  /// Begins at once. `clock` is the one of the source, and outlives this.
  LeaseKeeper(std::unique_ptr<TokenSource> source, LeaseOrder order, base::Milliseconds grace,
              const base::Clock& clock);
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  /// Stops, and waits for the release.
  ~LeaseKeeper();

  /// Gives up waiting, or stops renewing and releases.
  void stop() { thread_.request_stop(); }

  /// Readable when `next` has something.
  [[nodiscard]] int fd() const { return event_.get(); }

  std::optional<KeeperNews> next();

 private:
  void work(const std::stop_token& stop);
  /// Until a stop, or until the lease is lost; then whether there may be something to release.
  bool keep(Grant& grant, const std::stop_token& stop);
  void tell(KeeperNews news);
  /// False after a stop.
  bool wait_until(base::MonotonicTime time, const std::stop_token& stop);
  void wait_for(const std::stop_token& stop);

  const std::unique_ptr<TokenSource> source_;
  const LeaseOrder order_;
  const base::Milliseconds grace_;
  const base::Clock& clock_;
  const base::UniqueFd event_;
  std::mutex mutex_;
  std::deque<KeeperNews> news_;
  std::jthread thread_;
};

}  // namespace fenceline::client
