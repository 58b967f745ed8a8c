#pragma once

#include <barrier>
#include <cstddef>
#include <memory>

#include "base/worker_pool.h"

namespace fenceline::testing {

/// Waits until each of the pool's `threads` has let go of all that was posted before: what a piece
/// of work holds lives on for a moment after it has answered.
inline void wait_until_idle(base::WorkerPool& pool, std::size_t threads) {
  auto all = std::make_shared<std::barrier<>>(static_cast<std::ptrdiff_t>(threads) + 1);
  for (std::size_t i = 0; i < threads; ++i) {
    pool.post([all] { all->arrive_and_wait(); });
  }
  all->arrive_and_wait();
}

}  // namespace fenceline::testing
