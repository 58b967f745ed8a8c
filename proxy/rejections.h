#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/token.h"

namespace fenceline::proxy {

/// One request that the fence refused: most often a zombie.
struct Rejection {
  std::chrono::system_clock::time_point time;  ///< For people; nothing is decided by it.
  std::string route;
  std::string key;
  base::ErrorKind reason = base::ErrorKind::kStaleToken;
  base::Token presented;
  base::Token highest;
  std::string holder;
  std::string peer;
  std::string method;
  std::string resource;
  std::string request_id;
  bool enforced = true;
};

/// The most recent rejections, for the admin API. Thread-safe.
class Rejections {
 public:
  /// Keeps the last `capacity` rejections.
  explicit Rejections(std::size_t capacity) : capacity_(capacity) {}

  void add(Rejection rejection);

  /// Up to `limit` rejections, the newest first.
  [[nodiscard]] std::vector<Rejection> latest(std::size_t limit) const;

 private:
  mutable std::mutex mutex_;
  std::deque<Rejection> kept_;
  std::size_t capacity_;
};

}  // namespace fenceline::proxy
