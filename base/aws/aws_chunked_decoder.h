#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace fenceline::base::aws {

/// Which of the three forms of aws-chunked a body has.
struct AwsChunkedForm {
  bool is_signed = false;    ///< Each chunk, and the trailer, has a signature.
  bool has_trailer = false;  ///< Lines follow the last chunk: those announced, then the signature.
  std::vector<std::string> announced = {};  ///< Trailers that must come; lower case.
};

/// One step through a body.
struct AwsChunkedStep {
  enum class Event : std::uint8_t {
    kNone,      ///< A piece, or more bytes are needed.
    kChunkEnd,  ///< The bytes of a chunk are complete, also of the last, empty one.
    kBodyEnd,   ///< All of it is complete.
  };

  std::size_t consumed_bytes = 0;  ///< Drop so many bytes from the front of the buffer.
  std::string_view piece;          ///< Content, a view into the buffer; may be empty.
  Event event = Event::kNone;
};

/// Strict decoder for the content coding `aws-chunked`
/// (https://docs.aws.amazon.com/AmazonS3/latest/ API/sigv4-streaming.html), fed from the caller's
/// buffer:
///
///     hex[;chunk-signature=…] CRLF  bytes CRLF …  0[;chunk-signature=…] CRLF
///     [name:value CRLF]…  [x-amz-trailer-signature:… CRLF]  CRLF
///
/// Consumes every byte that it has understood. How the bytes were cut into reads changes nothing
/// but where pieces are cut. A line has at most 512 bytes, a chunk at most 2^63-1. Checks no
/// signature: it only gives them. Not thread-safe.
class AwsChunkedDecoder {
 public:
  static constexpr std::size_t kMaxLineBytes = 512;

  explicit AwsChunkedDecoder(AwsChunkedForm form);

  /// The next step: at most one piece or one event per call. No event, no piece: more bytes are
  /// needed, or, after `kBodyEnd`, nothing is consumed any more.
  /// Failure: `kMalformedRequest` with `InvalidRequest`, or `MalformedTrailerError` for a trailer
  /// that is broken, not announced, there twice or missing. Do not call it again then.
  Result<AwsChunkedStep> next(std::string_view buffered);

  /// After `kChunkEnd`: the signature of that chunk, 64 lower-case hexadecimal digits; empty where
  /// the form has none.
  [[nodiscard]] std::string_view chunk_signature() const { return chunk_signature_; }

  /// After `kBodyEnd`: the trailers but the signature, names in lower case, values without the
  /// blanks around them, in their order.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& trailers() const {
    return trailers_;
  }

  /// After `kBodyEnd`: the signature of the trailer, as that of a chunk.
  [[nodiscard]] std::string_view trailer_signature() const { return trailer_signature_; }

 private:
  enum class State : std::uint8_t {
    kSizeLine,
    kData,
    kDataCr,  ///< Before the CRLF that ends the bytes of a chunk.
    kDataLf,
    kTrailerLine,
    kDone,
  };

  /// Takes a byte of a line. True if the line is complete: it is in `line_`, without CRLF.
  Result<bool> take_line(char c);
  Result<void> read_size_line();
  Result<void> read_trailer_line();
  Result<void> end_trailer() const;
  /// Takes one byte of framing.
  Result<AwsChunkedStep::Event> take(char c);

  AwsChunkedForm form_;
  State state_ = State::kSizeLine;
  std::string line_;
  bool after_cr_ = false;              ///< Within a line.
  std::uint64_t remaining_bytes_ = 0;  ///< Of the current chunk.
  std::string chunk_signature_;
  std::string trailer_signature_;
  std::vector<std::pair<std::string, std::string>> trailers_;
};

}  // namespace fenceline::base::aws
