#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace fenceline::fencing {

/// Calls that must be made without a lock, in the order in which they were decided under it: by one
/// thread at a time, so that two decisions never reach the ledger the other way round. A call that
/// decides more calls, also inside, only appends: nothing recurses.
class Outbox {
 public:
  /// Appends a call; the lock is held.
  void post(std::function<void()> call) { calls_.push_back(std::move(call)); }

  /// Makes the calls, with the lock given up meanwhile. Returns at once if some thread (also this
  /// one, further up) does so already: that one goes on until none is left.
  void run(std::unique_lock<std::mutex>& lock);

  /// Waits until no thread makes calls; not from inside a call.
  void wait_idle(std::unique_lock<std::mutex>& lock);

 private:
  std::deque<std::function<void()>> calls_;
  bool running_ = false;
  std::condition_variable idle_;
};

}  // namespace fenceline::fencing
