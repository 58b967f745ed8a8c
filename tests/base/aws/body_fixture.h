#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/aws/verified_body.h"
#include "base/field_lines.h"
#include "base/http.h"

namespace fenceline::testing {

/// A request with a body, as a client would send it.
struct SentBody {
  base::aws::Payload payload = base::aws::Payload::kUnsigned;
  std::vector<base::OwnedField> fields = {};
  std::string bytes = {};
  const base::aws::Verified* verified = nullptr;
  bool declares = true;  ///< With Content-Length, and not chunked.
  bool wants_md5 = false;
  bool fields_are_of_body = true;
  std::optional<base::Error> end = {};  ///< How the connection fails behind `bytes`.
};

/// What came of it.
struct GotBody {
  std::optional<base::Error> error;
  bool opened = false;
  std::string content;
  std::vector<std::string> pieces;
  std::optional<std::uint64_t> declared_bytes;
  std::optional<base::aws::Checksum> early_checksum;  ///< Before anything was read.
  std::optional<base::aws::Checksum> checksum;
  std::optional<base::aws::ChecksumKind>
      trailer;  ///< What was announced; before anything was read.
  std::optional<std::string> md5;
  bool reads_on = false;  ///< After the end or a failure, the next `read` was different.

  /// The S3 code of the failure, or `ok`.
  [[nodiscard]] std::string_view outcome() const { return error ? error->code : "ok"; }
};

/// Sends it in pieces that end at these places, and reads to the end. Every piece that the
/// connection has given is overwritten when the next is asked for, as a real buffer is.
GotBody receive(const SentBody& sent, const std::vector<std::size_t>& cuts);

/// The same in pieces of `step` bytes.
GotBody receive(const SentBody& sent, std::size_t step = 65536);

std::string crc32_of(std::string_view content);

/// The published example of signed chunks: key, time, scope and first signature.
/// https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
base::aws::Verified example_of_chunks(std::string_view seed_signature);

/// `content` in signed chunks of these sizes and the empty one. `trailer` is one line of it
/// without CR LF; empty: there is none.
std::string signed_chunks(std::string_view content, const std::vector<std::size_t>& sizes,
                          const base::aws::Verified& verified, std::string_view trailer = {});

}  // namespace fenceline::testing
