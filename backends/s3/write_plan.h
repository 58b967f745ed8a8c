#pragma once

#include <optional>

#include "backends/backend.h"
#include "backends/s3/s3_standing.h"
#include "backends/s3/s3_upstream.h"
#include "base/aws/aws_chunked_frames.h"

namespace fenceline::backends::s3 {

/// How one write is carried out. Plain data.
struct WritePlan {
  bool conditional = false;     ///< Under a condition of ours, of the state that was read before.
  bool is_proven = false;       ///< And the probe has shown that the upstream keeps to it.
  bool puts = false;            ///< PutObject.
  bool deletes = false;         ///< DeleteObject.
  bool buries = false;          ///< By the PUT of a tombstone.
  bool leaves_content = false;  ///< It changes neither the content nor the ETag of any object.
  bool stamps = false;          ///< The object keeps our stamp, so a lost answer can be looked up.
  bool hides_errors = false;    ///< Its 200 may have an error for a body.
  bool pins_state = false;      ///< Its intent names the state it is sent under.
  TagStyle tags = TagStyle::kQuoted;
  bool tags_repeat = true;
  bool tags_are_md5 = false;

  /// True for a deletion of what is not there. Without a condition nobody has looked.
  [[nodiscard]] bool sends_nothing(const ObjectState& seen) const {
    return conditional && deletes && !(buries ? seen.visible() : seen.exists);
  }
};

/// By the operation and what the probe has found. Pure.
WritePlan plan_of(const S3Standing& standing, const ResourceRequest& request);

/// In what the body goes upstream, so that the checksum which the client sends behind it comes
/// there, too: where it is too long to be held, and the upstream takes that. Nothing: it goes as it
/// is.
std::optional<base::aws::AwsChunkedFrames> frames_of(const S3Options& options,
                                                     const S3Standing& standing,
                                                     const S3Request& request);

/// What has to be on record of it; `seen`: what its condition is about. Nothing for what nobody
/// sees yet (multipart uploads before their completion), and where nothing will be sent. Pure.
std::optional<WriteIntent> intent_of(const S3Upstream& upstream, const S3Standing& standing,
                                     const ResourceRequest& request, const WritePlan& plan,
                                     const ObjectState& seen);

}  // namespace fenceline::backends::s3
