#pragma once

#include <cstddef>
#include <string_view>

#include "base/error.h"

namespace fenceline::proxy {

/// Checks a request line without its CRLF (RFC 9112, 3).
/// Does: wants `method SP target SP version` with exactly these two blanks; a method that is a
/// token, known or not; a target in origin form, of the bytes that RFC 3986 allows in path and
/// query, with whole percent-encodings; HTTP/1.0 or HTTP/1.1.
/// Failure: `kMalformedRequest`, also for absolute form, authority form and asterisk form;
/// `kTargetTooLong` above `max_target_bytes`; `kVersionNotSupported` for another `HTTP/…`,
/// the preface of HTTP/2 among them. Pure.
base::Result<void> check_request_line(std::string_view line, std::size_t max_target_bytes);

}  // namespace fenceline::proxy
