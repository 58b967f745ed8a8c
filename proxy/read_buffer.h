#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace fenceline::proxy {

/// The bytes that a connection has received and nobody has used yet. Grows and shrinks as a whole,
/// so that an idle connection holds `kIdleBytes` and a large upload reads in large pieces.
class ReadBuffer {
 public:
  static constexpr std::size_t kIdleBytes = std::size_t{4} * 1024;

  /// What is there; valid until the next `prepare` or `shrink`, also after `consume`.
  [[nodiscard]] std::string_view data() const { return {memory_.get() + begin_, end_ - begin_}; }

  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  /// Drops `bytes` from the front; at most `size()`.
  void consume(std::size_t bytes) { begin_ += std::min(bytes, size()); }

  /// Room to read into, behind what is there: all of it, after growing to `capacity` if the buffer
  /// is smaller. Empty only if the buffer is full and `capacity` does not make it larger.
  std::span<char> prepare(std::size_t capacity) {
    if (capacity > capacity_) {
      resize(capacity);
    } else if (begin_ > 0) {
      std::memmove(memory_.get(), memory_.get() + begin_, size());
      end_ -= begin_;
      begin_ = 0;
    }
    return {memory_.get() + end_, capacity_ - end_};
  }

  /// Takes over `bytes` that were read into the room that `prepare` gave.
  void commit(std::size_t bytes) { end_ += std::min(bytes, capacity_ - end_); }

  /// Gives memory above `kIdleBytes` back, unless what is there needs it.
  void shrink() {
    if (capacity_ > kIdleBytes && size() <= kIdleBytes) {
      resize(kIdleBytes);
    }
  }

 private:
  void resize(std::size_t capacity) {
    auto memory = std::make_unique_for_overwrite<char[]>(capacity);
    const std::size_t bytes = size();
    if (bytes > 0) {
      std::memcpy(memory.get(), memory_.get() + begin_, bytes);
    }
    memory_ = std::move(memory);
    capacity_ = capacity;
    begin_ = 0;
    end_ = bytes;
  }

  std::unique_ptr<char[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace fenceline::proxy
