#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

// Of OpenSSL, which has no place for its headers here.
struct evp_md_ctx_st;
struct evp_md_st;

namespace fenceline::base::aws {

enum class DigestKind : std::uint8_t { kMd5, kSha1, kSha256 };

/// A digest of bytes that come piece by piece (OpenSSL). Throws `std::runtime_error` where OpenSSL
/// refuses: an algorithm that the machine's policy forbids, at once; without memory, when the first
/// bytes come. Until then it costs next to nothing.
class RunningDigest {
 public:
  explicit RunningDigest(DigestKind kind);

  void add(std::string_view bytes);

  /// The digest of all that was added since the start or the last `finish`, as raw bytes; then it
  /// is ready for the next.
  std::string finish();

  /// The same into `raw`, which has the size of the digest.
  void finish_into(std::span<std::uint8_t> raw);

  /// The same in lower-case hexadecimal.
  std::string finish_hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };

  void start();

  const evp_md_st* algorithm_;
  std::unique_ptr<evp_md_ctx_st, Free> context_;  ///< Null before the first bytes.
  bool started_ = false;
};

}  // namespace fenceline::base::aws
