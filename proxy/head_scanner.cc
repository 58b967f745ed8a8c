#include "proxy/head_scanner.h"

#include <fmt/format.h>

#include <cstdint>

#include "base/bytes.h"
#include "proxy/request_line.h"

namespace fenceline::proxy {
namespace {

using base::ErrorKind;

constexpr std::size_t kMaxEmptyLines = 2;

tl::unexpected<base::Error> refuse(std::string detail) {
  return base::fail(ErrorKind::kMalformedRequest, std::move(detail));
}

tl::unexpected<base::Error> refuse_control(char c, std::size_t offset) {
  constexpr char kTlsHandshake = 0x16;
  if (offset == 0 && c == kTlsHandshake) {
    return refuse("The client started TLS, but this listener speaks plain HTTP. Use http://.");
  }
  if (c == '\n') {
    return refuse(
        fmt::format("The head has a bare LF at byte {}. End every line with CR LF.", offset));
  }
  return refuse(fmt::format("The head has the control byte 0x{:02x} at byte {}. Remove it.",
                            static_cast<unsigned>(static_cast<std::uint8_t>(c)), offset));
}

}  // namespace

void HeadScanner::reset() {
  position_ = 0;
  line_start_ = 0;
  empty_lines_ = 0;
  begin_.reset();
  fields_ = 0;
}

tl::unexpected<base::Error> HeadScanner::too_large(std::string_view scanned) const {
  // Still in the request line, and past its method.
  if (!begin_ && scanned.find(' ', line_start_) != std::string_view::npos) {
    return base::fail(ErrorKind::kTargetTooLong,
                      fmt::format("The request target is longer than {} bytes. Use a shorter one.",
                                  limits_.max_target_bytes));
  }
  return base::fail(ErrorKind::kHeadTooLarge,
                    fmt::format("The request head is larger than {} bytes. Send fewer or shorter "
                                "fields.",
                                limits_.max_head_bytes));
}

/// True if `line` is the empty line that ends the head.
base::Result<bool> HeadScanner::finish_line(std::string_view line) {
  if (!begin_) {
    if (line.empty()) {
      ++empty_lines_;
      if (empty_lines_ > kMaxEmptyLines) {
        return refuse("There are more than two empty lines before the request line. Send none.");
      }
      return false;
    }
    const base::Result<void> checked = check_request_line(line, limits_.max_target_bytes);
    if (!checked) {
      return tl::unexpected<base::Error>(checked.error());
    }
    begin_ = line_start_;
    return false;
  }
  if (line.empty()) {
    return true;
  }
  if (line.front() == ' ' || line.front() == '\t') {
    return refuse(
        "A header line starts with a blank (a folded line). Send each field on one line.");
  }
  ++fields_;
  if (fields_ > limits_.max_fields) {
    return base::fail(
        ErrorKind::kHeadTooLarge,
        fmt::format("The request has more than {} header fields. Send fewer.", limits_.max_fields));
  }
  return false;
}

base::Result<std::optional<HeadSpan>> HeadScanner::scan(std::string_view buffered) {
  // Nothing beyond the limit is looked at, so that the outcome does not depend on how much arrived.
  const bool full = buffered.size() >= limits_.max_head_bytes;
  const std::string_view text = buffered.substr(0, limits_.max_head_bytes);
  for (;;) {
    position_ = base::find_control(text, position_);
    const bool lone_cr = position_ + 1 == text.size() && text[position_] == '\r';
    if (position_ >= text.size() || lone_cr) {
      if (full) {
        return too_large(text);
      }
      return std::nullopt;
    }
    if (text[position_] == '\t' && begin_) {
      ++position_;
      continue;
    }
    if (text[position_] != '\r') {
      return refuse_control(text[position_], position_);
    }
    if (text[position_ + 1] != '\n') {
      return refuse(
          fmt::format("The head has a bare CR at byte {}. End every line with CR LF.", position_));
    }
    const base::Result<bool> ended = finish_line(text.substr(line_start_, position_ - line_start_));
    if (!ended) {
      return tl::unexpected<base::Error>(ended.error());
    }
    position_ += 2;
    line_start_ = position_;
    if (*ended) {
      return HeadSpan{.begin = *begin_, .end = position_, .fields = fields_};
    }
  }
}

}  // namespace fenceline::proxy
