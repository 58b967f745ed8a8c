#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/net/http_client.h"

namespace fenceline::base::net {

/// How the end of an answer's body is found (RFC 9112, 6.3).
enum class BodyEnd : std::uint8_t { kNoBody, kLength, kChunked, kClose };

/// A head and what it says about its message.
struct ParsedResponse {
  ResponseHead head;
  BodyEnd body = BodyEnd::kNoBody;
  bool keep_alive = false;  ///< By version and `Connection`; never with `BodyEnd::kClose`.
};

/// Finds and reads the heads of answers, and refuses each that could be understood in two ways:
/// control bytes, bare CR or LF, folded lines, a name that is no token, `Transfer-Encoding` that is
/// not exactly `chunked`, twice or together with `Content-Length`, a `Content-Length` that is not
/// one number. All failures are `kUpstreamFailed`; how the bytes were cut never changes the
/// outcome. Not thread-safe.
class ResponseParser {
 public:
  explicit ResponseParser(std::size_t max_head_bytes) : max_head_bytes_(max_head_bytes) {}

  /// Looks for a whole head at the front of `buffered`; goes on where the last call stopped.
  /// Success: its length in bytes; nothing while it is incomplete.
  Result<std::optional<std::size_t>> find_end(std::string_view buffered);

  /// Reads a head that `find_end` has found. `to_head`: it answers a HEAD request.
  /// Success: the parts, as views into `bytes`. Interim heads (1xx) have no body; pure.
  [[nodiscard]] static Result<ParsedResponse> read(std::string_view bytes, bool to_head);

  /// Ready for the next head.
  void reset() {
    position_ = 0;
    line_start_ = 0;
  }

 private:
  std::size_t max_head_bytes_;
  std::size_t position_ = 0;    ///< Next byte to look at.
  std::size_t line_start_ = 0;  ///< First byte of the line that `position_` is in.
};

}  // namespace fenceline::base::net
