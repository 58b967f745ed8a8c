#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace fenceline::testing {

/// A disk with a volatile cache, in memory: what was written and not flushed may be lost when the
/// power goes, in any combination. Not for several threads.
class VolatileImage {
 public:
  /// A disk writes a block of this many bytes wholly or not at all; it never tears one.
  static constexpr std::size_t kBlockBytes = 4096;

  explicit VolatileImage(std::vector<char> durable)
      : durable_(std::move(durable)), current_(durable_) {}

  [[nodiscard]] std::size_t size() const { return current_.size(); }

  /// What a read sees: every write, flushed or not. In the image.
  [[nodiscard]] std::string_view read(std::size_t offset, std::size_t bytes) const;

  void write(std::size_t offset, std::string_view data);

  /// What was written before this is durable.
  void flush();

  /// How many writes a cut had to decide about, and how many blocks of them it kept.
  struct Cut {
    std::size_t writes = 0;
    std::size_t blocks = 0;
    std::size_t kept_blocks = 0;
  };

  /// The power goes: of each unflushed write each block is kept or lost, with a probability that is
  /// itself random, often 0 or 1. What a read sees from now on is what is left.
  Cut cut(std::mt19937_64& random);

 private:
  struct Write {
    std::size_t offset;
    std::string data;
  };

  std::vector<char> durable_;
  std::vector<char> current_;
  std::vector<Write> unflushed_;
};

}  // namespace fenceline::testing
