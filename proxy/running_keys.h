#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

namespace fenceline::proxy {

/// The idempotency keys whose requests are under way in this process. Thread-safe.
class RunningKeys {
 public:
  /// The right to run the request of one key, until it goes. Must not outlive its `RunningKeys`.
  class Run {
   public:
    Run(RunningKeys& keys, std::string key) : keys_(&keys), key_(std::move(key)) {}
    Run(Run&& other) noexcept
        : keys_(std::exchange(other.keys_, nullptr)), key_(std::move(other.key_)) {}
    Run& operator=(Run&&) = delete;
    ~Run() {
      if (keys_ != nullptr) {
        keys_->end(key_);
      }
    }

   private:
    RunningKeys* keys_;
    std::string key_;
  };

  /// Nothing if a request with this key is under way.
  std::optional<Run> begin(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    return keys_.insert(key).second ? std::optional<Run>(std::in_place, *this, key) : std::nullopt;
  }

 private:
  void end(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    keys_.erase(key);
  }

  std::mutex mutex_;
  std::unordered_set<std::string> keys_;
};

/// The idempotency keys of writes whose outcome was unknown before their bodies had been read: a
/// repeated one must not begin again, since the upstream acts before it has the whole request. The
/// oldest leave when there are `kMax`. Thread-safe.
class DoubtfulKeys {
 public:
  static constexpr std::size_t kMax = 10'000;

  void add(std::string key) {
    const std::scoped_lock lock(mutex_);
    if (!keys_.insert(key).second) {
      return;
    }
    order_.push_back(std::move(key));
    if (order_.size() > kMax) {
      keys_.erase(order_.front());
      order_.pop_front();
    }
  }

  bool contains(const std::string& key) {
    const std::scoped_lock lock(mutex_);
    return keys_.contains(key);
  }

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> keys_;
  std::deque<std::string> order_;
};

}  // namespace fenceline::proxy
