#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/aws/aws_chunked_decoder.h"
#include "base/aws/checksum.h"
#include "base/aws/verified_body.h"
#include "base/error.h"
#include "base/http.h"

namespace fenceline::base::aws {

/// What a request says about its body.
struct BodyDeclarations {
  std::optional<AwsChunkedForm> chunked;       ///< Nothing: the body is the content.
  std::optional<std::uint64_t> content_bytes;  ///< Of the content.
  std::optional<Checksum> checksum;            ///< From a field.
  std::optional<ChecksumKind> trailer;         ///< The one that comes behind the body.
  std::string sha256_hex;                      ///< Of the content; empty: not declared.
  std::string md5;                             ///< Raw bytes; empty: not declared.
};

/// Reads them. `raw_bytes` is the length of the body as it is sent, if it is known.
/// Failure: as `open_body`. Pure.
Result<BodyDeclarations> read_declarations(const RequestHead& head,
                                           std::optional<std::uint64_t> raw_bytes,
                                           const BodyOptions& options);

}  // namespace fenceline::base::aws
