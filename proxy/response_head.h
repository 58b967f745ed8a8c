#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/http.h"

namespace fenceline::proxy {

/// The `Date` of answers (RFC 9110, 6.6.1): formatted once per second. One per core; not
/// thread-safe. The time is given in, so nobody here reads a clock; no decision depends on it.
class HttpDate {
 public:
  /// `unix_s` as IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT`: always 29 bytes, valid until
  /// the next call; see `base::format_http_date`.
  std::string_view at(std::int64_t unix_s);

 private:
  std::int64_t unix_s_ = 0;
  std::string text_;
};

/// What the answer has to fit: the request and the connection it goes out on.
struct ReplyContext {
  base::Method method = base::Method::kGet;
  int minor_version = 1;    ///< Of the request: 0 or 1.
  bool keep_alive = true;   ///< What the session wants after this answer.
  std::string_view date{};  ///< From `HttpDate`; empty: no `Date` field.
};

/// How the bytes after the head look.
struct ReplyFraming {
  bool has_body = false;   ///< False: nothing follows the head, whatever `reply.body` holds.
  bool chunked = false;    ///< The body goes out in chunks (RFC 9112, 7.1).
  bool keep_alive = true;  ///< False: close after the answer; also when `context` wanted to keep.
  std::optional<std::uint64_t>
      length_bytes;       ///< Of what follows; nothing if only the sender knows.
  bool replaced = false;  ///< The reply broke a rule and is a 500 problem now: log it.
};

/// Appends the status line, the fields and the empty line of `reply` to `out`.
/// Does: adds `Date`, `Server`, `Content-Length` or `Transfer-Encoding: chunked`, and `Connection`
/// where HTTP/1.x needs it. HEAD, 204, 205 and 304 get no body (RFC 9110, 6.4.1; RFC 9112, 6.3).
/// A body of unknown length is chunked; for HTTP/1.0 it ends with the connection instead.
/// Success: how to send the body.
/// Failure: none. A reply that must not go out (a status outside 200 … 599; a field name that is no
/// token; CR, LF, NUL or another control byte in a value; a `Date`, `Content-Length`,
/// `Transfer-Encoding` or `Connection` of its own) is replaced by a 500 problem, in `reply` too.
/// Pure but for `reply` and `out`; allocates nothing once `out` is large enough.
ReplyFraming append_response_head(base::Reply& reply, const ReplyContext& context,
                                  std::string& out);

}  // namespace fenceline::proxy
