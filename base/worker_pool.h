#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "base/async.h"

namespace fenceline::base {

/// Threads for work that blocks (fsync, rename, directory scans), so that no network thread waits
/// for a disk.
class WorkerPool {
 public:
  /// Starts `threads` threads (at least 1).
  explicit WorkerPool(std::size_t threads);

  /// As `finish`.
  ~WorkerPool();

  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Runs `work` on one of the threads. `work` must not throw. Thread-safe.
  void post(std::function<void()> work);

  /// Finishes all work that was posted, then joins: an effect that has begun is never abandoned.
  /// What is posted later is dropped. For the end of the process; one caller.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Runs `work` on the pool and gives its result to the awaiting coroutine.
/// `work` is called exactly once even if the coroutine is destroyed meanwhile, so what it captures
/// must own everything it touches.
template <typename T, typename Work>
Awaitable<T> run_on(WorkerPool& pool, Work work) {
  auto owned = std::make_shared<Work>(std::move(work));
  return from_callback<T>([&pool, owned](Done<T> done) {
    pool.post([owned, done = std::move(done)] { done((*owned)()); });
  });
}

}  // namespace fenceline::base
