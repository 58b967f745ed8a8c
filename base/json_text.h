#pragma once

#include <string>
#include <string_view>

namespace fenceline::base {

/// Appends `text` to `out` as a JSON string, with the quotes (RFC 8259, section 7).
/// Does: escapes quotes, backslashes and control bytes (also DEL, which breaks terminals). Every
/// byte that is not part of valid UTF-8 becomes U+FFFD, so the result is always valid JSON,
/// whatever a client sent.
/// Failure: none. Pure but for `out`, to which it only appends.
void append_json_string(std::string& out, std::string_view text);

/// `text` as a JSON string, with the quotes.
std::string json_string(std::string_view text);

}  // namespace fenceline::base
