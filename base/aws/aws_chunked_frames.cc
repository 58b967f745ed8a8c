#include "base/aws/aws_chunked_frames.h"

#include <fmt/format.h>

#include <algorithm>

namespace fenceline::base::aws {
namespace {

constexpr std::string_view kCrLf = "\r\n";
constexpr std::string_view kEmptyChunk = "0\r\n";

std::string size_line(std::uint64_t bytes) { return fmt::format("{:x}\r\n", bytes); }

}  // namespace

std::uint64_t AwsChunkedFrames::body_bytes() const {
  const std::uint64_t full = content_bytes_ / kChunkBytes;
  const std::uint64_t rest = content_bytes_ % kChunkBytes;
  const std::uint64_t chunks = full + (rest > 0 ? 1 : 0);
  std::uint64_t bytes = content_bytes_ + full * size_line(kChunkBytes).size();
  bytes += rest > 0 ? size_line(rest).size() : 0;
  // Each chunk but the last has its CRLF in front of the next one; that of the last is in the end.
  bytes += chunks > 0 ? (chunks - 1) * kCrLf.size() : 0;
  return bytes + end_bytes();
}

std::size_t AwsChunkedFrames::end_bytes() const {
  return (content_bytes_ > 0 ? kCrLf.size() : 0) + kEmptyChunk.size() + field_of(trailer_).size() +
         1 + value_bytes(trailer_) + 2 * kCrLf.size();
}

std::string AwsChunkedFrames::before(std::uint64_t at) const {
  if (at % kChunkBytes != 0 || at >= content_bytes_) {
    return {};
  }
  std::string frame(at > 0 ? kCrLf : std::string_view());
  return frame.append(size_line(std::min(kChunkBytes, content_bytes_ - at)));
}

std::string AwsChunkedFrames::end(std::string_view value) const {
  return fmt::format("{}{}{}:{}\r\n\r\n", content_bytes_ > 0 ? kCrLf : std::string_view(),
                     kEmptyChunk, field_of(trailer_), value);
}

}  // namespace fenceline::base::aws
