#include "proxy/connection_slots.h"

namespace fenceline::proxy {

void LiveConnections::enter() {
  const std::lock_guard lock(mutex_);
  ++count_;
}

void LiveConnections::leave() {
  const std::lock_guard lock(mutex_);
  if (--count_ == 0) {
    none_.notify_all();
  }
}

bool LiveConnections::wait_until_none(base::Milliseconds longest) {
  std::unique_lock lock(mutex_);
  return none_.wait_for(lock, longest, [this] { return count_ == 0; });
}

bool Slots::take() {
  if (taken_.fetch_add(1, std::memory_order_relaxed) < limit_.load(std::memory_order_relaxed)) {
    return true;
  }
  give_back();
  return false;
}

}  // namespace fenceline::proxy
