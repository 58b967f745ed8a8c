#pragma once

// A body that streams upstream with its checksum behind it: `aws-chunked` without signatures.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/aws/aws_chunked_frames.h"
#include "base/aws/verified_body.h"
#include "base/error.h"
#include "base/field_lines.h"
#include "base/http.h"

namespace fenceline::backends::s3 {

/// What the head says about such a body, all but the payload hash, which is
/// `aws::kStreamingUnsignedTrailer`. `coding`: the content's own `Content-Encoding`; may be empty.
std::vector<base::OwnedField> trailed_fields(std::string_view coding,
                                             const base::aws::AwsChunkedFrames& frames);

/// `content` in these frames. Its end, of `frames.end_bytes()`, comes after `content` has ended, so
/// after all that was declared about it was checked; with the value that `checked` has by then.
/// Failure of `read`: that of `content`; `kInternal` if there is no checksum of that kind then.
/// `content` declares its length, that of the frames; both outlive this one.
class TrailedBody final : public base::BodySource {
 public:
  TrailedBody(base::BodySource& content, const base::aws::VerifiedBody& checked,
              base::aws::AwsChunkedFrames frames)
      : content_(content), checked_(checked), frames_(frames) {}

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override {
    return frames_.body_bytes();
  }
  base::Awaitable<base::Result<std::string_view>> read() override;
  void limit_idle(base::Milliseconds limit) override { content_.limit_idle(limit); }

 private:
  base::Result<std::string_view> end();
  std::string_view next();

  base::BodySource& content_;
  const base::aws::VerifiedBody& checked_;
  base::aws::AwsChunkedFrames frames_;
  std::uint64_t at_ = 0;    ///< Bytes of the content that were given.
  std::string_view piece_;  ///< Of the content, not given yet.
  std::string frame_;
  bool framed_ = false;  ///< What goes before `at_` was given.
  bool ended_ = false;
};

}  // namespace fenceline::backends::s3
