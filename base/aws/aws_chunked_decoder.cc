#include "base/aws/aws_chunked_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include "base/field_syntax.h"

namespace fenceline::base::aws {
namespace {

constexpr std::string_view kChunkSignature = ";chunk-signature=";
constexpr std::string_view kTrailerSignature = "x-amz-trailer-signature";
constexpr std::size_t kSignatureDigits = 64;
constexpr std::size_t kMaxSizeDigits = 16;
constexpr auto kMaxChunkBytes =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

tl::unexpected<Error> refuse(std::string detail, std::string_view code = "InvalidRequest") {
  return tl::unexpected(
      Error{.kind = ErrorKind::kMalformedRequest, .detail = std::move(detail), .code = code});
}

tl::unexpected<Error> refuse_trailer(std::string detail) {
  return refuse(std::move(detail), "MalformedTrailerError");
}

bool is_signature(std::string_view text) {
  return text.size() == kSignatureDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::string lower_of(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), ascii_lower);
  return lower;
}

}  // namespace

AwsChunkedDecoder::AwsChunkedDecoder(AwsChunkedForm form) : form_(std::move(form)) {}

Result<bool> AwsChunkedDecoder::take_line(char c) {
  if (after_cr_ != (c == '\n')) {
    return refuse("A line of the aws-chunked framing does not end in CR LF.");
  }
  if (after_cr_) {
    after_cr_ = false;
    return true;
  }
  if (c == '\r') {
    after_cr_ = true;
    return false;
  }
  if (line_.size() == kMaxLineBytes) {
    return refuse(
        fmt::format("A line of the aws-chunked framing is longer than {} bytes. The size of the "
                    "chunk before it is probably wrong.",
                    kMaxLineBytes));
  }
  line_.push_back(c);
  return false;
}

Result<void> AwsChunkedDecoder::read_size_line() {
  std::string_view line = line_;
  const std::size_t digits = std::min(line.find(';'), line.size());
  const auto [end, error] =
      std::from_chars(line.data(), line.data() + digits, remaining_bytes_, 16);
  if (digits == 0 || digits > kMaxSizeDigits || error != std::errc() ||
      end != line.data() + digits || remaining_bytes_ > kMaxChunkBytes) {
    return refuse(
        "The size of an aws-chunked chunk is not 1 to 16 hexadecimal digits that stay "
        "below 2^63.");
  }
  line.remove_prefix(digits);
  if (!form_.is_signed) {
    if (!line.empty()) {
      return refuse(
          "A chunk has a signature or another extension, but x-amz-content-sha256 says "
          "that chunks are unsigned.");
    }
  } else if (!line.starts_with(kChunkSignature) ||
             !is_signature(line.substr(kChunkSignature.size()))) {
    return refuse(
        "A chunk has no `;chunk-signature=` with 64 lower-case hexadecimal digits, as "
        "x-amz-content-sha256 announces.");
  } else {
    chunk_signature_ = line.substr(kChunkSignature.size());
  }
  line_.clear();
  return {};
}

Result<void> AwsChunkedDecoder::end_trailer() const {
  for (const std::string& name : form_.announced) {
    if (std::ranges::none_of(trailers_, [&](const auto& one) { return one.first == name; })) {
      return refuse_trailer(fmt::format("The trailer `{}` was announced and did not come.", name));
    }
  }
  if (form_.is_signed && form_.has_trailer && trailer_signature_.empty()) {
    return refuse_trailer("The trailer has no x-amz-trailer-signature.");
  }
  return {};
}

Result<void> AwsChunkedDecoder::read_trailer_line() {
  const std::string_view line = line_;
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) ||
      !is_field_value(line.substr(colon + 1))) {
    return refuse_trailer("A line of the trailer is not `name:value`.");
  }
  const std::string name = lower_of(line.substr(0, colon));
  const std::string_view value = trim_blanks(line.substr(colon + 1));
  if (!form_.has_trailer || !trailer_signature_.empty()) {
    return refuse_trailer("There is a trailer where none may be.");
  }
  if (form_.is_signed && name == kTrailerSignature) {
    if (!is_signature(value)) {
      return refuse_trailer("x-amz-trailer-signature is not 64 lower-case hexadecimal digits.");
    }
    trailer_signature_ = value;
  } else if (std::ranges::find(form_.announced, name) == form_.announced.end()) {
    return refuse_trailer(
        fmt::format("The trailer `{}` was not announced in x-amz-trailer.", name));
  } else if (std::ranges::any_of(trailers_, [&](const auto& one) { return one.first == name; })) {
    return refuse_trailer(fmt::format("The trailer `{}` is there twice.", name));
  } else {
    trailers_.emplace_back(name, value);
  }
  line_.clear();
  return {};
}

Result<AwsChunkedStep::Event> AwsChunkedDecoder::take(char c) {
  using Event = AwsChunkedStep::Event;
  if (state_ == State::kDataCr || state_ == State::kDataLf) {
    if (c != (state_ == State::kDataCr ? '\r' : '\n')) {
      return refuse("The bytes of a chunk are not followed by CR LF; its size is wrong.");
    }
    const bool ends = state_ == State::kDataLf;
    state_ = ends ? State::kSizeLine : State::kDataLf;
    return ends ? Event::kChunkEnd : Event::kNone;
  }
  const auto complete = take_line(c);
  if (!complete) {
    return tl::unexpected(complete.error());
  }
  if (!*complete) {
    return Event::kNone;
  }
  if (state_ == State::kSizeLine) {
    if (auto read = read_size_line(); !read) {
      return pass_on(read.error());
    }
    const bool last = remaining_bytes_ == 0;
    state_ = last ? State::kTrailerLine : State::kData;
    return last ? Event::kChunkEnd : Event::kNone;
  }
  const bool last = line_.empty();
  if (auto read = last ? end_trailer() : read_trailer_line(); !read) {
    return pass_on(read.error());
  }
  state_ = last ? State::kDone : State::kTrailerLine;
  return last ? Event::kBodyEnd : Event::kNone;
}

Result<AwsChunkedStep> AwsChunkedDecoder::next(std::string_view buffered) {
  AwsChunkedStep step;
  while (state_ != State::kDone && step.consumed_bytes < buffered.size()) {
    if (state_ == State::kData) {
      const std::uint64_t here =
          std::min<std::uint64_t>(remaining_bytes_, buffered.size() - step.consumed_bytes);
      step.piece = buffered.substr(step.consumed_bytes, static_cast<std::size_t>(here));
      step.consumed_bytes += step.piece.size();
      remaining_bytes_ -= here;
      state_ = remaining_bytes_ == 0 ? State::kDataCr : State::kData;
      return step;
    }
    auto event = take(buffered[step.consumed_bytes]);
    if (!event) {
      return pass_on(event.error());
    }
    ++step.consumed_bytes;
    if (*event != AwsChunkedStep::Event::kNone) {
      step.event = *event;
      return step;
    }
  }
  return step;
}

}  // namespace fenceline::base::aws
