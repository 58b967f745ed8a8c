#pragma once

// From what the probe found at an S3 server to what the route guarantees. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backends/http/standing.h"
#include "backends/s3/s3_options.h"

namespace fenceline::backends::s3 {

/// How an entity tag goes into a condition: some servers compare the bytes between the quotes with
/// all that was sent.
enum class TagStyle : std::uint8_t { kQuoted, kBare };

/// What a probe has found. Each reason says why the upstream cannot do a thing; nothing: it can.
struct S3Verdict {
  std::string server;  ///< Its `Server` field.
  std::optional<std::string> no_conditional_put = "not probed";
  std::optional<std::string> no_conditional_delete = "not probed";
  std::optional<std::string> no_conditional_copy = "not probed";
  std::optional<std::string> no_conditional_complete = "not probed";
  /// Why an AbortMultipartUpload that was answered does not end an upload for good.
  std::optional<std::string> no_final_abort = "not probed";
  /// Why a checksum in a trailer cannot go on to it.
  std::optional<std::string> no_trailers = "not probed";
  TagStyle tags = TagStyle::kQuoted;
  bool tags_repeat = true;    ///< The same bytes have the same entity tag again.
  bool tags_are_md5 = false;  ///< Of one PUT: so it is known before.
};

/// How this upstream is written to. Plain data.
struct S3Standing : http::Standing {
  bool conditional_put = false;
  bool put_proven = false;  ///< False: only because the options name it.
  bool conditional_delete = false;
  bool tombstones = false;  ///< A DeleteObject is the PUT of one: as configured, and as needed.
  bool conditional_copy = false;
  bool conditional_complete = false;
  bool abort_is_final = false;  ///< A CompleteMultipartUpload in doubt is revoked by it.
  bool takes_trailers = false;  ///< It undoes `aws-chunked`, with a checksum in the trailer.
  TagStyle tags = TagStyle::kQuoted;
  bool tags_repeat = true;
  bool tags_are_md5 = false;
};

/// The tag in the form that the upstream takes.
std::string_view tag_for(TagStyle style, std::string_view etag);

/// True if the probe has to run before anything can be written.
bool needs_probe(const S3Options& options);

/// The strongest protocol that is allowed and proven, for each operation that writes. `verdict`:
/// nothing where nobody probes.
S3Standing standing_of(const S3Options& options, const std::optional<S3Verdict>& verdict);

}  // namespace fenceline::backends::s3
