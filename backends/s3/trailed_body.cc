#include "backends/s3/trailed_body.h"

#include <fmt/format.h>

#include <utility>

namespace fenceline::backends::s3 {

using base::Awaitable;
using base::Result;

std::vector<base::OwnedField> trailed_fields(std::string_view coding,
                                             const base::aws::AwsChunkedFrames& frames) {
  // The order in which they were applied, and in which the SDKs name them.
  return {{"Content-Encoding", fmt::format("{}{}aws-chunked", coding, coding.empty() ? "" : ",")},
          {"x-amz-decoded-content-length", fmt::to_string(frames.content_bytes())},
          {"x-amz-trailer", std::string(base::aws::field_of(frames.trailer()))}};
}

Awaitable<Result<std::string_view>> TrailedBody::read() {
  if (piece_.empty() && !ended_) {
    auto piece = co_await content_.read();
    if (!piece) {
      co_return base::pass_on(piece.error());
    }
    if (piece->empty()) {
      co_return end();
    }
    piece_ = *piece;
  }
  co_return next();
}

std::string_view TrailedBody::next() {
  if (!std::exchange(framed_, true)) {
    frame_ = frames_.before(at_);
    if (!frame_.empty()) {
      return frame_;
    }
  }
  const std::string_view now = piece_.substr(0, base::aws::AwsChunkedFrames::left_in_chunk(at_));
  piece_.remove_prefix(now.size());
  at_ += now.size();
  framed_ = false;
  return now;
}

Result<std::string_view> TrailedBody::end() {
  const auto checksum = checked_.checksum();
  if (!checksum || checksum->kind != frames_.trailer()) {
    return base::fail(base::ErrorKind::kInternal, "a body has no checksum in its trailer");
  }
  ended_ = true;
  frame_ = frames_.end(checksum->value);
  return frame_;
}

}  // namespace fenceline::backends::s3
