#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace fenceline::client {

/// Why a wait came back.
enum class Woken : std::uint8_t { kReady, kStopped, kLate };

/// A stop token that can be waited for beside a socket, or alone. One thread.
class StopEvent {
 public:
  explicit StopEvent(std::stop_token stop);
  StopEvent(const StopEvent&) = delete;
  StopEvent& operator=(const StopEvent&) = delete;
  ~StopEvent() = default;

  /// Blocks until `fd` has one of poll's `events` (or an error), the stop was requested, or `limit`
  /// has passed, whichever the thread sees first; a stop goes before. `fd`: −1 waits for the
  /// others.
  [[nodiscard]] Woken wait(int fd, short events, base::Milliseconds limit) const;

  [[nodiscard]] bool requested() const { return stop_.stop_requested(); }

 private:
  std::stop_token stop_;
  base::UniqueFd event_;
  std::stop_callback<std::function<void()>> callback_;
};

}  // namespace fenceline::client
