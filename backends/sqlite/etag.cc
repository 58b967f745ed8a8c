#include "backends/sqlite/etag.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/digits.h"

namespace fenceline::backends::sqlite {
namespace {

constexpr std::size_t kMaxTagBytes = 256;
constexpr std::size_t kShownBytes = 20;  // of the hash: enough that nobody finds a second content

struct FreeDigest {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

TagSource::TagSource(std::uint64_t nonce) {
  base::append_hex(nonce_, nonce, 16);
  nonce_ += '-';
}

std::string TagSource::fresh() {
  std::string tag = nonce_;
  base::append_hex(tag, counter_.fetch_add(1, std::memory_order_relaxed));
  return tag;
}

std::string tag_of_content(std::string_view type, std::string_view content) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  const std::unique_ptr<EVP_MD_CTX, FreeDigest> context(EVP_MD_CTX_new());
  EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
  EVP_DigestUpdate(context.get(), type.data(), type.size());
  EVP_DigestUpdate(context.get(), "", 1);
  EVP_DigestUpdate(context.get(), content.data(), content.size());
  EVP_DigestFinal_ex(context.get(), hash.data(), nullptr);
  std::string tag = "sha256-";
  for (std::size_t i = 0; i < kShownBytes; ++i) {
    base::append_hex(tag, hash.at(i), 2);
  }
  return tag;
}

bool is_opaque_tag(std::string_view tag) {
  return !tag.empty() && tag.size() <= kMaxTagBytes &&
         std::ranges::all_of(tag, [](char c) { return c > ' ' && c <= '~' && c != '"'; });
}

std::string entity_tag(std::string_view tag) {
  std::string quoted = "\"";
  quoted += tag;
  quoted += '"';
  return quoted;
}

}  // namespace fenceline::backends::sqlite
