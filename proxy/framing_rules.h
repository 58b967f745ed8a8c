#pragma once

// The rules for header fields that frame a message: what is lenient here lets
// a body be read as the next request (request smuggling).

#include "base/error.h"
#include "base/http.h"

namespace fenceline::proxy {

/// Checks the fields of `head` and derives from them how the request is framed.
/// Does: reads `head.fields` and `head.minor_version`, sets `content_length`, `chunked`,
/// `keep_alive` and `expects_continue`:
/// - `Host`: exactly one for HTTP/1.1, at most one for HTTP/1.0, of valid syntax.
/// - `Transfer-Encoding`: none, or exactly one field that is exactly `chunked`; never together with
///   `Content-Length`; never in HTTP/1.0 (RFC 9112, 6.1).
/// - `Content-Length`: none, or exactly one field of digits, at most 2^63-1; no list, even of equal
///   values (RFC 9112, 6.3).
/// - `Expect`: none, or exactly `100-continue`; ignored in HTTP/1.0 (RFC 9110, 10.1.1).
///   `expects_continue` is set only if a body follows.
/// - `Connection`: `close` and `keep-alive`; HTTP/1.0 closes unless told otherwise.
///   `Upgrade` is ignored (RFC 9110, 7.8).
/// Failure: `kMalformedRequest`; `kMethodUnknown` for a transfer coding that is not `chunked`;
/// `kExpectationFailed`. Then `head` must not be used. Pure.
base::Result<void> apply_field_rules(base::RequestHead& head);

}  // namespace fenceline::proxy
