#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace fenceline::proxy {

/// Strings to build answers in, kept with their memory: a busy connection borrows one for each
/// answer, an idle one holds none. One per core; not thread-safe.
class ScratchPool {
 public:
  std::string take() {
    if (free_.empty()) {
      return {};
    }
    std::string text = std::move(free_.back());
    free_.pop_back();
    return text;
  }

  void give_back(std::string text) {
    if (free_.size() < kMaxKept && text.capacity() <= kMaxBytesKept) {
      free_.push_back(std::move(text));
    }
  }

 private:
  static constexpr std::size_t kMaxKept = 64;
  static constexpr std::size_t kMaxBytesKept = std::size_t{64} * 1024;

  std::vector<std::string> free_;
};

}  // namespace fenceline::proxy
