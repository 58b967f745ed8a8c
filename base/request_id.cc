#include "base/request_id.h"

#include <algorithm>
#include <charconv>
#include <random>

namespace fenceline::base {
namespace {

constexpr std::size_t kNonceDigits = 16;

std::uint64_t random_nonce() {
  std::random_device entropy;
  return (std::uint64_t{entropy()} << 32) | entropy();
}

}  // namespace

RequestId::RequestId(std::uint64_t nonce, std::uint64_t counter) {
  // Always 16 digits, so that ids of one process sort and align in a log.
  std::array<char, kNonceDigits> hex{};
  const auto end = std::to_chars(hex.begin(), hex.end(), nonce, 16).ptr;
  const auto digits = static_cast<std::size_t>(end - hex.begin());
  char* out = std::fill_n(text_.data(), kNonceDigits - digits, '0');
  out = std::copy_n(hex.begin(), digits, out);
  *out++ = '-';
  out = std::to_chars(out, text_.data() + text_.size(), counter).ptr;
  size_ = static_cast<std::size_t>(out - text_.data());
}

RequestIds::RequestIds() : RequestIds(random_nonce()) {}

}  // namespace fenceline::base
