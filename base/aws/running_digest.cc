#include "base/aws/running_digest.h"

#include <openssl/evp.h>

#include <cstddef>
#include <stdexcept>

#include "base/aws/hmac.h"

namespace fenceline::base::aws {
namespace {

void require(bool done) {
  if (!done) {
    throw std::runtime_error("OpenSSL refused to compute a digest");
  }
}

// Fetched once for the process: OpenSSL 3 looks an algorithm up by its name for each digest
// otherwise, which takes longer than hashing a head.
const EVP_MD* algorithm_of(DigestKind kind) {
  static const EVP_MD* const md5 = EVP_MD_fetch(nullptr, "MD5", nullptr);
  static const EVP_MD* const sha1 = EVP_MD_fetch(nullptr, "SHA1", nullptr);
  static const EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  switch (kind) {
    case DigestKind::kMd5:
      return md5;
    case DigestKind::kSha1:
      return sha1;
    case DigestKind::kSha256:
      break;
  }
  return sha256;
}

}  // namespace

void RunningDigest::Free::operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }

RunningDigest::RunningDigest(DigestKind kind) : algorithm_(algorithm_of(kind)) {
  require(algorithm_ != nullptr);
}

void RunningDigest::start() {
  // A context that has its algorithm already starts again in half the time.
  const EVP_MD* const algorithm = context_ == nullptr ? algorithm_ : nullptr;
  if (context_ == nullptr) {
    context_.reset(EVP_MD_CTX_new());
  }
  require(context_ != nullptr && EVP_DigestInit_ex(context_.get(), algorithm, nullptr) == 1);
  started_ = true;
}

void RunningDigest::add(std::string_view bytes) {
  if (!started_) {
    start();
  }
  // After a refusal nothing of what was added may be left.
  started_ = EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1;
  require(started_);
}

void RunningDigest::finish_into(std::span<std::uint8_t> raw) {
  if (!started_) {
    start();
  }
  started_ = false;
  require(raw.size() == static_cast<std::size_t>(EVP_MD_get_size(algorithm_)) &&
          EVP_DigestFinal_ex(context_.get(), raw.data(), nullptr) == 1);
}

std::string RunningDigest::finish() {
  std::string raw(static_cast<std::size_t>(EVP_MD_get_size(algorithm_)), '\0');
  finish_into({reinterpret_cast<std::uint8_t*>(raw.data()), raw.size()});
  return raw;
}

std::string RunningDigest::finish_hex() {
  const std::string raw = finish();
  return hex({reinterpret_cast<const std::uint8_t*>(raw.data()), raw.size()});
}

}  // namespace fenceline::base::aws
