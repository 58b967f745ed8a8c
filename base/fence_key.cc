#include "base/fence_key.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "base/bytes.h"

namespace fenceline::base {
namespace {

/// Length of the UTF-8 sequence at the start of `text`, or 0 if there is no valid one.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const auto tail = [&](std::size_t i, std::uint8_t low = 0x80, std::uint8_t high = 0xBF) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    return tail(1) ? 2 : 0;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    const std::uint8_t low = lead == 0xE0 ? 0xA0 : 0x80;   // overlong forms
    const std::uint8_t high = lead == 0xED ? 0x9F : 0xBF;  // surrogates
    return tail(1, low, high) && tail(2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const std::uint8_t low = lead == 0xF0 ? 0x90 : 0x80;   // overlong forms
    const std::uint8_t high = lead == 0xF4 ? 0x8F : 0xBF;  // above U+10FFFF
    return tail(1, low, high) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  constexpr std::size_t kStep = sizeof(std::uint64_t);
  while (!text.empty()) {
    if (text.size() >= kStep && all_ascii(eight_bytes(text.data()))) {
      text.remove_prefix(kStep);
      continue;
    }
    const std::size_t length = sequence_length(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

bool has_control_byte(std::string_view text) { return find_control(text) != text.size(); }

Result<FenceKey> FenceKey::parse(std::string text) {
  if (text.empty()) {
    return fail(ErrorKind::kMalformedRequest, "The fence key is empty.");
  }
  if (text.size() > kMaxBytes) {
    return fail(ErrorKind::kTargetTooLong,
                fmt::format("The fence key has {} bytes; at most {} are allowed. Use a shorter "
                            "path.",
                            text.size(), kMaxBytes));
  }
  if (has_control_byte(text) || !is_valid_utf8(text)) {
    return fail(ErrorKind::kMalformedRequest,
                "The fence key has a control byte or is not valid UTF-8.");
  }
  return FenceKey(std::move(text));
}

}  // namespace fenceline::base
