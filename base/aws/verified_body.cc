#include "base/aws/verified_body.h"

#include <stdexcept>
#include <utility>

#include "base/aws/aws_chunked_decoder.h"
#include "base/aws/body_checks.h"
#include "base/aws/body_declarations.h"

namespace fenceline::base::aws {
namespace {

using Piece = std::string_view;

class CheckedBody final : public VerifiedBody {
 public:
  CheckedBody(BodySource& raw, BodyDeclarations declared, const BodyOptions& options)
      : raw_(raw), raw_bytes_(raw.declared_bytes()), checks_(std::move(declared), options) {
    if (checks_.declared().chunked) {
      decoder_.emplace(*checks_.declared().chunked);
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override {
    return checks_.declared().content_bytes;
  }
  [[nodiscard]] std::optional<Checksum> checksum() const override { return checks_.checksum(); }
  [[nodiscard]] std::optional<ChecksumKind> trailer() const override {
    return checks_.declared().trailer;
  }
  [[nodiscard]] std::optional<std::string> md5() const override { return checks_.md5(); }
  void limit_idle(Milliseconds limit) override { raw_.limit_idle(limit); }

  Awaitable<Result<Piece>> read() override {
    auto piece = next_piece();
    if (piece) {
      return Awaitable<Result<Piece>>::ready(*std::move(piece));
    }
    return receive();
  }

 private:
  Awaitable<Result<Piece>> receive() {
    std::optional<Result<Piece>> piece;
    while (!piece) {
      auto bytes = co_await raw_.read();
      if (!bytes) {
        failure_ = std::move(bytes.error());
      } else if (bytes->empty()) {
        end_of_raw();
      } else {
        buffer_ = *bytes;
        taken_bytes_ += buffer_.size();
      }
      piece = next_piece();
    }
    co_return *std::move(piece);
  }

  /// The next piece of content, the end of it or what is wrong with it; nothing if that takes more
  /// raw bytes. What was decoded and
  /// not given yet is `held_` or `ready_`, never both.
  std::optional<Result<Piece>> next_piece() {
    while (!failure_ && !complete_) {
      if (!ready_.empty() && !held_ && !checks_.may_be_complete()) {
        return std::exchange(ready_, {});
      }
      if (buffer_.empty()) {
        if (taken_bytes_ != raw_bytes_) {
          return keep_last_byte();
        }
        end_of_raw();
        continue;
      }
      const Piece piece = decode();
      if (failure_ || piece.empty()) {
        continue;
      }
      // There is more behind what is kept, so that is not the last.
      const Piece earlier = held_ ? release() : std::exchange(ready_, {});
      ready_ = piece;
      if (!earlier.empty()) {
        return earlier;
      }
    }
    if (failure_) {
      return tl::unexpected(*failure_);
    }
    return held_ ? release() : std::exchange(ready_, {});
  }

  /// The raw bytes that `ready_` is a view of are about to go.
  std::optional<Result<Piece>> keep_last_byte() {
    if (ready_.empty()) {
      return std::nullopt;
    }
    held_ = ready_.back();
    ready_.remove_suffix(1);
    return ready_.empty() ? std::nullopt : std::optional<Result<Piece>>(std::exchange(ready_, {}));
  }

  Piece release() {
    released_ = *std::exchange(held_, std::nullopt);
    return {&released_, 1};
  }

  /// Takes something off the front of `buffer_`, at most one piece.
  Piece decode() {
    if (!decoder_) {
      const Piece piece = std::exchange(buffer_, {});
      note(checks_.add(piece));
      return piece;
    }
    if (decoded_) {
      note(fail_with("InvalidRequest", "There are bytes after the end of the aws-chunked body."));
      return {};
    }
    auto step = decoder_->next(buffer_);
    if (!step) {
      failure_ = std::move(step.error());
      return {};
    }
    buffer_.remove_prefix(step->consumed_bytes);
    if (!step->piece.empty()) {
      note(checks_.add(step->piece));
    } else if (step->event == AwsChunkedStep::Event::kChunkEnd) {
      note(checks_.end_chunk(decoder_->chunk_signature()));
    } else if (step->event == AwsChunkedStep::Event::kBodyEnd) {
      decoded_ = true;
      note(checks_.end(&*decoder_));
    }
    return step->piece;
  }

  void end_of_raw() {
    if (!decoder_) {
      note(checks_.end(nullptr));
    } else if (!decoded_) {
      note(fail_with("IncompleteBody", "The body ends before its last aws-chunked chunk."));
    }
    complete_ = !failure_;
  }

  static Result<void> fail_with(std::string_view code, std::string detail) {
    return tl::unexpected(
        Error{.kind = ErrorKind::kMalformedRequest, .detail = std::move(detail), .code = code});
  }

  void note(Result<void> checked) {
    if (!checked) {
      failure_ = std::move(checked.error());
    }
  }

  BodySource& raw_;
  std::optional<std::uint64_t> raw_bytes_;
  std::uint64_t taken_bytes_ = 0;  ///< Of the raw body.
  BodyChecks checks_;
  std::optional<AwsChunkedDecoder> decoder_;
  Piece buffer_;  ///< Raw bytes that were not decoded yet.
  Piece ready_;   ///< Content, a view of raw bytes.
  std::optional<char> held_;
  char released_ = '\0';  ///< What the last piece is a view of, if it was held.
  bool decoded_ = false;  ///< The decoder has seen the end.
  bool complete_ = false;
  std::optional<Error> failure_;
};

}  // namespace

Result<std::unique_ptr<VerifiedBody>> open_body(const RequestHead& head, BodySource& raw,
                                                BodyOptions options) {
  auto declared = read_declarations(head, raw.declared_bytes(), options);
  if (!declared) {
    return pass_on(declared.error());
  }
  try {
    return std::make_unique<CheckedBody>(raw, *std::move(declared), options);
  } catch (const std::runtime_error&) {
    return fail(ErrorKind::kInternal,
                "OpenSSL on this machine computes no MD5 or SHA: see its configuration.");
  }
}

}  // namespace fenceline::base::aws
