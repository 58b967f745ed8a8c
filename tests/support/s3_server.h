#pragma once

// Real S3 servers as child processes on free ports of 127.0.0.1, asked past the proxy with signed
// requests.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/aws/sigv4.h"
#include "base/field_lines.h"
#include "tests/support/child_process.h"
#include "tests/support/raw_client.h"
#include "tests/support/temp_folder.h"

namespace fenceline::testing {

enum class S3Kind : std::uint8_t {
  kRadosgw,  ///< Debian's radosgw: signatures are checked, `BUCKET.localhost` is a bucket.
  kMoto,     ///< moto_server: all conditions of S3, no signature is checked; not in Debian.
};

/// True if it can be started on this machine.
bool is_installed(S3Kind kind);

/// One server with all of its data in memory. It ends with the test program, however that ends.
class S3Server {
 public:
  /// Starts it and waits until it answers; throws `std::runtime_error` with what it said otherwise.
  explicit S3Server(S3Kind kind);
  ~S3Server();
  S3Server(const S3Server&) = delete;
  S3Server& operator=(const S3Server&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] base::aws::Credentials credentials() const;

  /// A signed request, past the proxy; `target` is encoded. Throws `ClientError`.
  [[nodiscard]] Response call(std::string_view method, const std::string& target,
                              std::string_view content = {},
                              const std::vector<base::OwnedField>& fields = {}) const;

  /// Makes a bucket; throws if that fails.
  void make_bucket(const std::string& name) const;

  /// The keys in a bucket, as the first page of a listing has them.
  [[nodiscard]] std::vector<std::string> keys(const std::string& bucket) const;

  /// Multipart uploads in a bucket that are neither completed nor aborted.
  [[nodiscard]] std::size_t uploads(const std::string& bucket) const;

 private:
  std::uint16_t port_;
  TempFolder folder_;
  std::unique_ptr<ChildProcess> process_;
};

/// The content of each `<name>` element, in their order.
std::vector<std::string> elements(std::string_view xml, std::string_view name);

}  // namespace fenceline::testing
