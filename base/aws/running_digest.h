#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace fenceline::base::aws {

enum class DigestKind : std::uint8_t { kMd5, kSha1, kSha256 };

/// A digest of bytes that come piece by piece (OpenSSL). Throws `std::runtime_error` where OpenSSL
/// refuses: without memory, or an algorithm that the machine's policy forbids.
class RunningDigest {
 public:
  explicit RunningDigest(DigestKind kind);
  RunningDigest(RunningDigest&&) noexcept;
  RunningDigest& operator=(RunningDigest&&) noexcept;
  ~RunningDigest();

  void add(std::string_view bytes);

  /// The digest of all that was added since the start or the last `finish`, as raw bytes; then it
  /// is ready for the next.
  std::string finish();

  /// The same in lower-case hexadecimal.
  std::string finish_hex();

 private:
  struct Context;

  void start();

  std::unique_ptr<Context> context_;
};

}  // namespace fenceline::base::aws
