#include "backends/s3/signing.h"

#include <algorithm>
#include <chrono>

#include "backends/s3/s3_backend.h"
#include "base/aws/sigv4.h"

namespace fenceline::backends::s3 {
namespace {

constexpr std::size_t kHexDigits = 64;
constexpr std::string_view kHashOfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

bool is_lower_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

void sign_upstream(const S3Options& options, http::Outgoing& out, std::string_view payload_hash) {
  if (!options.credentials) {
    return;
  }
  const auto now =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::string host(out.fields.find("Host").value_or(""));
  base::aws::sign({.method = out.method,
                   .target = out.target,
                   .host = host,
                   .region = options.region,
                   .payload_hash = payload_hash,
                   .time = now},
                  *options.credentials, out.fields);
}

std::optional<std::string_view> declared_hash(const ResourceRequest& request) {
  // Of a DeleteObjects document ours is sent, not the client's.
  const auto value = request.head.only("x-amz-content-sha256");
  if (!value || value->size() != kHexDigits || !std::ranges::all_of(*value, is_lower_hex) ||
      !request.s3->document.empty()) {
    return std::nullopt;
  }
  return value;
}

std::string_view hash_of_nothing() { return kHashOfNothing; }

std::string hash_of_held(const ResourceRequest& request, std::string_view body) {
  if (const auto declared = declared_hash(request)) {
    return std::string(*declared);
  }
  return body.empty() ? std::string(kHashOfNothing) : base::aws::sha256_hex(body);
}

}  // namespace fenceline::backends::s3
