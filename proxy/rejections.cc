#include "proxy/rejections.h"

#include <algorithm>
#include <utility>

namespace fenceline::proxy {

void Rejections::add(Rejection rejection) {
  const std::lock_guard lock(mutex_);
  if (kept_.size() == capacity_) {
    kept_.pop_back();
  }
  kept_.push_front(std::move(rejection));
}

std::vector<Rejection> Rejections::latest(std::size_t limit) const {
  const std::lock_guard lock(mutex_);
  const auto count = static_cast<std::ptrdiff_t>(std::min(limit, kept_.size()));
  return {kept_.begin(), kept_.begin() + count};
}

}  // namespace fenceline::proxy
