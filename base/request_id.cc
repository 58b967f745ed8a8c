#include "base/request_id.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <random>

#include "base/digits.h"

namespace fenceline::base {
namespace {

constexpr std::size_t kNonceDigits = 16;

std::uint64_t random_nonce() {
  std::random_device entropy;
  return (std::uint64_t{entropy()} << 32) | entropy();
}

}  // namespace

RequestId::RequestId(std::string_view prefix, std::uint64_t counter) {
  std::memcpy(text_.data(), prefix.data(), prefix.size());
  char* out = text_.data() + prefix.size();
  out = std::to_chars(out, text_.data() + text_.size(), counter).ptr;
  size_ = static_cast<std::size_t>(out - text_.data());
}

RequestIds::RequestIds(std::uint64_t nonce, std::uint64_t first) : counter_(first) {
  // Always 16 digits, so that ids of one process sort and align in a log.
  append_hex(prefix_, nonce, kNonceDigits);
  prefix_ += '-';
}

RequestIds::RequestIds() : RequestIds(random_nonce()) {}

}  // namespace fenceline::base
