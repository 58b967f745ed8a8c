#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/sqlite/write_job.h"

namespace fenceline::backends::sqlite {

using Jobs = std::vector<std::unique_ptr<WriteJob>>;

/// What waits for the writing connection. Bounded; many threads push, one takes.
class WriteQueue {
 public:
  static constexpr std::size_t kMaxWaiting = 10'000;
  static constexpr std::size_t kMaxGroup = 256;
  static constexpr std::size_t kMaxGroupBytes = std::size_t{64} << 20;

  /// Why `take` came back.
  enum class Wake : std::uint8_t { kWork, kIdle, kClosed };

  /// Appends `job` and wakes the taker. False if too many wait: `job` is unchanged. Thread-safe.
  bool push(std::unique_ptr<WriteJob>& job);

  /// Waits for work (up to `idle_after`, if given) and moves one group into `jobs`, which is empty,
  /// oldest first. After `close` it gives what is left, then `kClosed`. One thread only.
  Wake take(Jobs& jobs, std::optional<std::chrono::milliseconds> idle_after);

  /// Nothing may be pushed any more. Thread-safe.
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable pushed_;
  bool closed_ = false;
  std::deque<std::unique_ptr<WriteJob>> waiting_;
};

}  // namespace fenceline::backends::sqlite
