#include "backends/s3/digests.h"

#include <openssl/evp.h>

#include <array>

namespace fenceline::backends::s3 {
namespace {

using Md5 = std::array<unsigned char, 16>;

Md5 md5_of(std::string_view text) {
  Md5 digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_md5(), nullptr);
  return digest;
}

}  // namespace

std::string hex_of(std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kHex[byte >> 4U];
    out += kHex[byte & 0xFU];
  }
  return out;
}

std::string md5_hex(std::string_view text) {
  const Md5 digest = md5_of(text);
  return hex_of({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string md5_base64(std::string_view text) {
  constexpr std::size_t kEncodedBytes = 24;
  const Md5 digest = md5_of(text);
  std::array<unsigned char, kEncodedBytes + 1> encoded{};
  EVP_EncodeBlock(encoded.data(), digest.data(), static_cast<int>(digest.size()));
  return {reinterpret_cast<const char*>(encoded.data()), kEncodedBytes};
}

}  // namespace fenceline::backends::s3
