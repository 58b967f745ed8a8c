#include "base/aws/hmac.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <cstddef>

#include "base/aws/running_digest.h"

namespace fenceline::base::aws {
namespace {

constexpr std::size_t kBlockBytes = 64;

/// A key, filled up with zeros, each byte changed by a constant (RFC 2104, 2); wiped when it is not
/// needed any more.
class PaddedKey {
 public:
  PaddedKey(std::span<const std::uint8_t> key, std::uint8_t pad) {
    std::ranges::copy(key, block_.begin());
    for (std::uint8_t& byte : block_) {
      byte ^= pad;
    }
  }
  PaddedKey(const PaddedKey&) = delete;
  PaddedKey& operator=(const PaddedKey&) = delete;
  ~PaddedKey() { OPENSSL_cleanse(block_.data(), block_.size()); }

  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return block_; }

 private:
  std::array<std::uint8_t, kBlockBytes> block_{};
};

std::string_view view_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The hash of `first` with `second` behind it.
Sha256 sha256_of(std::string_view first, std::string_view second) {
  // Of the thread: making a context costs as much as hashing the head of a request.
  thread_local RunningDigest digest(DigestKind::kSha256);
  digest.add(first);
  digest.add(second);
  Sha256 hash{};
  digest.finish_into(hash);
  return hash;
}

}  // namespace

Sha256 sha256(std::string_view bytes) { return sha256_of(bytes, {}); }

// Not HMAC() of OpenSSL: that makes and frees three contexts for each text, which takes longer than
// the hashing.
Sha256 hmac_sha256(std::span<const std::uint8_t> key, std::string_view text) {
  Sha256 short_key{};
  if (key.size() > kBlockBytes) {
    short_key = sha256(view_of(key));
    key = short_key;
  }
  const PaddedKey inner(key, 0x36);
  const PaddedKey outer(key, 0x5c);
  const Sha256 hash = sha256_of(view_of(inner.bytes()), text);
  return sha256_of(view_of(outer.bytes()), view_of(hash));
}

std::string hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(2 * bytes.size(), '\0');
  auto out = text.begin();
  for (const std::uint8_t byte : bytes) {
    *out++ = kDigits[byte >> 4U];
    *out++ = kDigits[byte & 15U];
  }
  return text;
}

bool equal_secrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace fenceline::base::aws
