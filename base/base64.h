#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fenceline::base {

/// Appends `bytes` to `out` in base64 (RFC 4648, 4), with padding.
void append_base64(std::string& out, std::string_view bytes);

/// The bytes of `text`. Nothing if it is not exactly that: with padding, no other characters, no
/// bits beyond the last byte.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace fenceline::base
