#include "fencing/lease/outbox.h"

#include <utility>

namespace fenceline::fencing {

void Outbox::run(std::unique_lock<std::mutex>& lock) {
  if (running_) {
    return;
  }
  running_ = true;
  while (!calls_.empty()) {
    std::function<void()> call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    call();
    // What it owns may come back here when it is destroyed.
    call = nullptr;
    lock.lock();
  }
  running_ = false;
  idle_.notify_all();
}

void Outbox::wait_idle(std::unique_lock<std::mutex>& lock) {
  idle_.wait(lock, [this] { return !running_; });
}

}  // namespace fenceline::fencing
