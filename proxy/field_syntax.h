#pragma once

// The character classes of HTTP/1.1 fields, shared by what reads heads and what writes them.

#include <string_view>

namespace fenceline::proxy {

/// True for a byte that may be in a token: field names, methods, codings (RFC 9110, 5.6.2).
bool is_token_char(char c);

/// True if `text` is a token: at least one byte, token bytes only. Pure.
bool is_token(std::string_view text);

/// True if `text` may be a field value: no control byte but HTAB; bytes from 0x80 are opaque data
/// (RFC 9110, 5.5). Pure.
bool is_field_value(std::string_view text);

/// `text` without the blanks and tabs around it (OWS, RFC 9110, 5.6.3). Pure.
std::string_view trim_blanks(std::string_view text);

}  // namespace fenceline::proxy
