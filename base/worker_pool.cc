#include "base/worker_pool.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace fenceline::base {

struct WorkerPool::Impl {
  explicit Impl(std::size_t threads) : pool(std::max<std::size_t>(threads, 1)) {}
  boost::asio::thread_pool pool;
};

WorkerPool::WorkerPool(std::size_t threads) : impl_(std::make_unique<Impl>(threads)) {}

WorkerPool::~WorkerPool() { finish(); }

void WorkerPool::finish() { impl_->pool.join(); }

void WorkerPool::post(std::function<void()> work) {
  boost::asio::post(impl_->pool, std::move(work));
}

}  // namespace fenceline::base
