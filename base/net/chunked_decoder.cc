#include "base/net/chunked_decoder.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/digits.h"
#include "base/field_syntax.h"

namespace fenceline::base::net {
namespace {

constexpr std::size_t kMaxDroppedBytes = 4096;
constexpr std::size_t kMaxSizeDigits = 16;
constexpr auto kMaxChunkBytes =
    static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

constexpr std::string_view kTooMuch =
    "The chunk extensions and trailers are larger than 4096 bytes together. Send none.";
constexpr std::string_view kBadEnd = "A line of the chunked framing does not end in CR LF.";

std::uint64_t hex_value(char c) {
  if (c <= '9') {
    return static_cast<std::uint64_t>(c - '0');
  }
  return static_cast<std::uint64_t>((c | 0x20) - 'a') + 10;
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_value_char(char c) { return is_field_value(std::string_view(&c, 1)); }

}  // namespace

std::string_view ChunkedDecoder::take_size(char c) {
  if (is_hex_digit(c)) {
    const std::uint64_t digit = hex_value(c);
    if (++size_digits_ > kMaxSizeDigits || remaining_bytes_ > (kMaxChunkBytes - digit) / 16) {
      return "A chunk-size is larger than 2^63-1 or has more than 16 digits.";
    }
    remaining_bytes_ = remaining_bytes_ * 16 + digit;
    state_ = State::kSize;
    return {};
  }
  if (size_digits_ == 0) {
    return "A chunk-size does not start with a hexadecimal digit.";
  }
  if (c == '\r') {
    state_ = State::kSizeLf;
    return {};
  }
  if (c != ';' && !is_blank(c)) {
    return "A chunk-size is followed by neither CR LF nor an extension.";
  }
  state_ = c == ';' ? State::kExtension : State::kBlank;
  return ++dropped_bytes_ > kMaxDroppedBytes ? kTooMuch : std::string_view();
}

std::string_view ChunkedDecoder::take_trailer(char c) {
  if (c == '\r' && state_ != State::kTrailerName) {
    state_ = state_ == State::kTrailerStart ? State::kEndLf : State::kTrailerLf;
    return {};
  }
  if (state_ == State::kTrailerName && c == ':') {
    state_ = State::kTrailerValue;
  } else if (state_ == State::kTrailerValue) {
    if (!is_value_char(c)) {
      return "A trailer value has a control byte.";
    }
  } else {
    if (!is_token_char(c)) {
      return "A trailer line is not `name: value`, or is folded.";
    }
    state_ = State::kTrailerName;
  }
  return ++dropped_bytes_ > kMaxDroppedBytes ? kTooMuch : std::string_view();
}

std::string_view ChunkedDecoder::take(char c) {
  switch (state_) {
    case State::kSizeFirst:
    case State::kSize:
      return take_size(c);
    case State::kBlank:
      if (c != ';' && !is_blank(c)) {
        return "A chunk-size is followed by blanks without an extension.";
      }
      state_ = c == ';' ? State::kExtension : State::kBlank;
      return ++dropped_bytes_ > kMaxDroppedBytes ? kTooMuch : std::string_view();
    case State::kExtension:
      if (c == '\r') {
        state_ = State::kSizeLf;
        return {};
      }
      if (!is_value_char(c)) {
        return "A chunk extension has a control byte.";
      }
      return ++dropped_bytes_ > kMaxDroppedBytes ? kTooMuch : std::string_view();
    case State::kSizeLf:
      state_ = remaining_bytes_ == 0 ? State::kTrailerStart : State::kData;
      return c == '\n' ? std::string_view() : kBadEnd;
    case State::kDataCr:
      state_ = State::kDataLf;
      return c == '\r' ? std::string_view()
                       : "The content of a chunk is not followed by CR LF; its size is wrong.";
    case State::kDataLf:
      state_ = State::kSizeFirst;
      size_digits_ = 0;
      return c == '\n' ? std::string_view() : kBadEnd;
    case State::kTrailerStart:
    case State::kTrailerName:
    case State::kTrailerValue:
      return take_trailer(c);
    case State::kTrailerLf:
      state_ = State::kTrailerStart;
      return c == '\n' ? std::string_view() : kBadEnd;
    case State::kEndLf:
      state_ = State::kDone;
      return c == '\n' ? std::string_view() : kBadEnd;
    case State::kData:
    case State::kDone:
    case State::kBroken:
      break;
  }
  return problem_;
}

Result<BodyStep> ChunkedDecoder::next(std::string_view buffered) {
  BodyStep step;
  while (state_ != State::kBroken && state_ != State::kDone &&
         step.consumed_bytes < buffered.size()) {
    if (state_ == State::kData) {
      const std::uint64_t here =
          std::min<std::uint64_t>(remaining_bytes_, buffered.size() - step.consumed_bytes);
      step.piece = buffered.substr(step.consumed_bytes, static_cast<std::size_t>(here));
      step.consumed_bytes += step.piece.size();
      remaining_bytes_ -= here;
      state_ = remaining_bytes_ == 0 ? State::kDataCr : State::kData;
      return step;
    }
    problem_ = take(buffered[step.consumed_bytes]);
    if (!problem_.empty()) {
      state_ = State::kBroken;
    }
    ++step.consumed_bytes;
  }
  if (state_ == State::kBroken) {
    return fail(ErrorKind::kMalformedRequest, std::string(problem_));
  }
  step.finished = state_ == State::kDone;
  return step;
}

}  // namespace fenceline::base::net
