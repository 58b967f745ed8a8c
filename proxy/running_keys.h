#pragma once

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

}  // namespace fenceline::proxy
