#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fenceline::base {

/// The name of one request in logs, answers and write stamps: `<nonce in hex>-<counter>`, visible
/// ASCII, at most 37 bytes. Plain data, no allocation.
class RequestId {
 public:
  RequestId() {}  // NOLINT: leaves the text as it is.
  /// `prefix`: nonce and `-`, at most 17 bytes.
  RequestId(std::string_view prefix, std::uint64_t counter);

  [[nodiscard]] std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, 40> text_;  // NOLINT: as far as `size_` says.
  std::size_t size_ = 0;
};

/// Gives out request ids that do not repeat: the counter within one process, the nonce (64 random
/// bits) from one process to the next.
class RequestIds {
 public:
  /// Takes the nonce from the machine's entropy.
  RequestIds();

  /// A nonce and a first number of the caller's choice, for tests.
  explicit RequestIds(std::uint64_t nonce, std::uint64_t first = 1);

  /// The next id. Thread-safe.
  RequestId next() { return {prefix_, counter_.fetch_add(1, std::memory_order_relaxed)}; }

 private:
  std::string prefix_;
  std::atomic<std::uint64_t> counter_;
};

}  // namespace fenceline::base
