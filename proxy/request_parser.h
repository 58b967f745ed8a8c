#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/http.h"
#include "base/net/chunked_decoder.h"

namespace fenceline::proxy {

struct HeadLimits {
  std::size_t max_head_bytes = 32 * 1024;   ///< Request line and fields; above: `kHeadTooLarge`.
  std::size_t max_target_bytes = 8 * 1024;  ///< Above: `kTargetTooLong`.
  std::size_t max_fields = 100;             ///< Above: `kHeadTooLarge`.
};

/// Strict HTTP/1.x request parser, fed from the caller's buffer: a scanner that refuses whatever
/// could be read in two ways (`proxy/head_scanner.h`), a splitter (`proxy/head_splitter.h`), the
/// rules of the fields (`proxy/framing_rules.h`) and a decoder for chunks
/// (`base/net/chunked_decoder.h`). Our own and not Beast's, which is lenient where it must not be
/// and takes ten times the instructions; the tests compare the two. One per connection, used for
/// one request after the other; allocates nothing per request in the steady state. Not thread-safe.
class RequestParser {
 public:
  explicit RequestParser(HeadLimits limits);
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  /// Looks for a whole head at the front of `buffered`.
  /// Success: the size of the head in bytes, and `head()` is valid; its views point into storage of
  /// this parser, so the buffer may be reused at once. Nothing while the head is incomplete (call
  /// again with more; earlier bytes must still be at the front). Empty lines before the request
  /// line (RFC 9112, 2.2) are taken, two at most.
  /// A request without `Content-Length` and `Transfer-Encoding` has no body, whatever its method
  /// (RFC 9112, 6.3); one with either has a body, whatever its method.
  /// Failure: `kMalformedRequest`, `kHeadTooLarge`, `kTargetTooLong`, `kMethodUnknown` (a transfer
  /// coding we do not know), `kVersionNotSupported`, `kExpectationFailed`: the connection cannot be
  /// used for another request.
  base::Result<std::optional<std::size_t>> parse_head(std::string_view buffered);

  /// The head of the current request; valid from its parse until the next `reset`.
  [[nodiscard]] const base::RequestHead& head() const;

  /// True if the request has no body, or its body is complete.
  [[nodiscard]] bool body_finished() const;

  /// Takes the next step through the body.
  /// Success: what was consumed and the next piece of content (chunk framing removed, trailers
  /// dropped). Nothing consumed and no piece: more bytes are needed.
  /// Failure: `kMalformedRequest`: chunk framing broken, extensions and trailers above 4 KiB
  /// together, a chunk-size above 2^63-1. Every later call fails the same way.
  base::Result<base::net::BodyStep> parse_body(std::string_view buffered);

  /// Ready for the next request of the connection.
  void reset();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fenceline::proxy
