#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace fenceline::base::net {

/// One step through a body.
struct BodyStep {
  std::size_t consumed_bytes = 0;  ///< Drop so many bytes from the front of the buffer.
  std::string_view piece;          ///< Body bytes, a view into the buffer; may be empty.
  bool finished = false;           ///< The body, and its trailers, are complete.
};

/// Strict decoder for chunked bodies (RFC 9112, 7.1), fed from the caller's buffer.
///
/// Our own and not Beast's, because Beast keeps the framing of a chunk in the buffer until it is
/// whole, takes 64 KiB of extensions, and turns trailers into fields. This one consumes every byte
/// it has understood, holds no bytes, and drops extensions and trailers: 4 KiB of both together is
/// the most that one body may have. How the bytes were cut into reads never changes the outcome.
/// Not thread-safe; allocates only for errors.
class ChunkedDecoder {
 public:
  /// The next step. At most one piece of content per call; nothing consumed and no piece: more
  /// bytes are needed.
  /// Failure: `kMalformedRequest`; every later call fails the same way.
  Result<BodyStep> next(std::string_view buffered);

  /// True after the empty line that ends the trailers.
  [[nodiscard]] bool finished() const { return state_ == State::kDone; }

  /// Ready for the next body.
  void reset() { *this = ChunkedDecoder(); }

 private:
  enum class State : std::uint8_t {
    kSizeFirst,  ///< Before the first digit of a chunk-size.
    kSize,       ///< Among its digits.
    kBlank,      ///< Blanks between chunk-size and `;`.
    kExtension,  ///< In chunk extensions.
    kSizeLf,     ///< Before the LF that ends the chunk-size line.
    kData,       ///< In the content of a chunk.
    kDataCr,     ///< Before the CRLF that ends the content of a chunk.
    kDataLf,
    kTrailerStart,  ///< At the start of a trailer line, or of the last line.
    kTrailerName,
    kTrailerValue,
    kTrailerLf,
    kEndLf,  ///< Before the last LF.
    kDone,
    kBroken,
  };

  /// Takes one byte of framing. Gives what is wrong with it; empty if nothing is.
  std::string_view take(char c);
  std::string_view take_size(char c);
  std::string_view take_trailer(char c);

  State state_ = State::kSizeFirst;
  std::uint64_t remaining_bytes_ = 0;  ///< Of the current chunk's content; while reading: its size.
  std::size_t size_digits_ = 0;
  std::size_t dropped_bytes_ = 0;  ///< Extensions and trailers so far.
  std::string_view problem_;       ///< Points to a literal.
};

}  // namespace fenceline::base::net
