#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "proxy/request_parser.h"

namespace fenceline::proxy {

/// Where a whole head lies in the buffer, in bytes from its front.
struct HeadSpan {
  std::size_t begin = 0;   ///< First byte of the request line: after the empty lines before it.
  std::size_t end = 0;     ///< After the empty line that ends the head.
  std::size_t fields = 0;  ///< Field lines in between.
};

/// Finds the end of a request head and refuses every byte and line that could be read in two ways,
/// before any grammar looks at it: bare CR or LF, NUL and other control bytes, folded lines
/// (obs-fold, RFC 9112, 5.2), a wrong request line, more than two empty lines before it (RFC 9112,
/// 2.2), and heads above the limits.
///
/// Looks at each byte once, in order, also when the head arrives in pieces, and fails at the first
/// byte that decides the failure: how the bytes were cut into reads never changes the outcome.
/// Not thread-safe; allocates only for errors.
class HeadScanner {
 public:
  explicit HeadScanner(HeadLimits limits) : limits_(limits) {}

  /// Goes on where the last call stopped; the bytes it was given then must still be at the front.
  /// Success: the span of the head; nothing while it is incomplete.
  /// Failure: `kMalformedRequest`, `kHeadTooLarge`, `kTargetTooLong`, `kVersionNotSupported`; the
  /// same again if called again.
  base::Result<std::optional<HeadSpan>> scan(std::string_view buffered);

  /// Ready for the next head.
  void reset();

 private:
  base::Result<bool> finish_line(std::string_view line);
  [[nodiscard]] tl::unexpected<base::Error> too_large(std::string_view scanned) const;

  HeadLimits limits_;
  std::size_t position_ = 0;    ///< Next byte to look at.
  std::size_t line_start_ = 0;  ///< First byte of the line that `position_` is in.
  std::size_t empty_lines_ = 0;
  std::optional<std::size_t> begin_;
  std::size_t fields_ = 0;
};

}  // namespace fenceline::proxy
