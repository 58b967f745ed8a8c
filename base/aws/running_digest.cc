#include "base/aws/running_digest.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

#include "base/aws/hmac.h"

namespace fenceline::base::aws {
namespace {

const EVP_MD* algorithm_of(DigestKind kind) {
  switch (kind) {
    case DigestKind::kMd5:
      return EVP_md5();
    case DigestKind::kSha1:
      return EVP_sha1();
    case DigestKind::kSha256:
      break;
  }
  return EVP_sha256();
}

void require(int done) {
  if (done != 1) {
    throw std::runtime_error("OpenSSL refused to compute a digest");
  }
}

struct Free {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

struct RunningDigest::Context {
  std::unique_ptr<EVP_MD_CTX, Free> evp{EVP_MD_CTX_new()};
  const EVP_MD* algorithm = nullptr;
};

RunningDigest::RunningDigest(DigestKind kind) : context_(std::make_unique<Context>()) {
  context_->algorithm = algorithm_of(kind);
  start();
}

RunningDigest::RunningDigest(RunningDigest&&) noexcept = default;
RunningDigest& RunningDigest::operator=(RunningDigest&&) noexcept = default;
RunningDigest::~RunningDigest() = default;

void RunningDigest::start() {
  require(EVP_DigestInit_ex(context_->evp.get(), context_->algorithm, nullptr));
}

void RunningDigest::add(std::string_view bytes) {
  require(EVP_DigestUpdate(context_->evp.get(), bytes.data(), bytes.size()));
}

std::string RunningDigest::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> raw{};
  unsigned int size = 0;
  require(EVP_DigestFinal_ex(context_->evp.get(), raw.data(), &size));
  start();
  return {raw.begin(), raw.begin() + size};
}

std::string RunningDigest::finish_hex() {
  const std::string raw = finish();
  return hex({reinterpret_cast<const std::uint8_t*>(raw.data()), raw.size()});
}

}  // namespace fenceline::base::aws
