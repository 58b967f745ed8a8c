#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>

#include "base/clock.h"

namespace fenceline::proxy {

/// How many connections of a server are alive, over all cores and listeners. Thread-safe.
class LiveConnections {
 public:
  void enter();
  void leave();

  /// Waits until none is left. False if `longest` passed before that.
  bool wait_until_none(base::Milliseconds longest);

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  std::size_t count_ = 0;
};

/// A bounded number of places, such as the connections of one listener. Thread-safe.
class Slots {
 public:
  explicit Slots(std::size_t limit) : limit_(limit) {}

  /// Changes the number of places. Above a lower one, those that are taken stay taken.
  void set_limit(std::size_t limit) { limit_.store(limit, std::memory_order_relaxed); }

  /// Takes one place. False if all are taken.
  bool take();
  void give_back() { taken_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> limit_;
  std::atomic<std::size_t> taken_{0};
};

}  // namespace fenceline::proxy
