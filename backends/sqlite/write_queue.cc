#include "backends/sqlite/write_queue.h"

#include <utility>

namespace fenceline::backends::sqlite {

bool WriteQueue::push(std::unique_ptr<WriteJob>& job) {
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_.size() >= kMaxWaiting) {
      return false;
    }
    waiting_.push_back(std::move(job));
  }
  pushed_.notify_one();
  return true;
}

WriteQueue::Wake WriteQueue::take(Jobs& jobs, std::optional<std::chrono::milliseconds> idle_after) {
  std::unique_lock lock(mutex_);
  const auto ready = [this] { return closed_ || !waiting_.empty(); };
  if (!idle_after) {
    pushed_.wait(lock, ready);
  } else if (!pushed_.wait_for(lock, *idle_after, ready)) {
    return Wake::kIdle;
  }
  for (std::size_t bytes = 0;
       !waiting_.empty() && jobs.size() < kMaxGroup && bytes < kMaxGroupBytes;) {
    bytes += waiting_.front()->bytes();
    jobs.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return jobs.empty() ? Wake::kClosed : Wake::kWork;
}

void WriteQueue::close() {
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  pushed_.notify_one();
}

}  // namespace fenceline::backends::sqlite
