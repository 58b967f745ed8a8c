#include "base/net/connection_pool.h"

#include <algorithm>
#include <utility>

namespace fenceline::base::net {
namespace {

constexpr std::size_t kMaxFreeBytes = std::size_t{4} * 1024 * 1024;

}  // namespace

Buffer BufferShelf::take(std::size_t bytes) {
  const auto found = std::find_if(free_.rbegin(), free_.rend(),
                                  [bytes](const Buffer& buffer) { return buffer.bytes == bytes; });
  if (found == free_.rend()) {
    return {.memory = std::make_unique_for_overwrite<char[]>(bytes), .bytes = bytes};
  }
  Buffer taken = std::move(*found);
  free_bytes_ -= bytes;
  free_.erase(std::next(found).base());
  return taken;
}

void BufferShelf::give_back(Buffer buffer) {
  if (buffer.memory != nullptr && free_bytes_ + buffer.bytes <= kMaxFreeBytes) {
    free_bytes_ += buffer.bytes;
    free_.push_back(std::move(buffer));
  }
}

std::unique_ptr<Connection> Pool::take() {
  while (!idle_.empty()) {
    std::unique_ptr<Connection> last = std::move(idle_.back());
    idle_.pop_back();
    last->wake();
    // Bytes that nobody asked for belong to no answer of ours; an end means it is gone.
    if (last->quiet()) {
      return last;
    }
  }
  return nullptr;
}

bool Pool::make_room() {
  const std::size_t most = upstream_->options.max_connections;
  if (open_ >= most && !idle_.empty()) {
    idle_.erase(idle_.begin());
  }
  return open_ < most;
}

void Pool::give_back(std::unique_ptr<Connection> connection) {
  const HttpClientOptions& options = upstream_->options;
  if (shut_ || upstream_->retired || idle_.size() >= options.max_idle) {
    return;
  }
  connection->rest(options.keep_alive);
  idle_.push_back(std::move(connection));
}

void Pool::expire(const Connection& connection) {
  const auto found = std::ranges::find_if(
      idle_, [&connection](const auto& idle) { return idle.get() == &connection; });
  if (found != idle_.end()) {
    idle_.erase(found);
  }
}

void Pool::shut_down() {
  shut_ = true;
  idle_.clear();
}

Pool& Pools::pool(const std::shared_ptr<Upstream>& upstream) {
  const auto found = pools_.find(upstream.get());
  if (found != pools_.end()) {
    return *found->second;
  }
  std::erase_if(pools_, [](const auto& entry) { return entry.second->unused(); });
  return *pools_.emplace(upstream.get(), std::make_unique<Pool>(upstream, buffers_)).first->second;
}

void Pools::shutdown() {
  for (const auto& [upstream, pool] : pools_) {
    pool->shut_down();
  }
}

}  // namespace fenceline::base::net
