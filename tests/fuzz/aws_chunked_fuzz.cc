// Bodies in aws-chunked. The first line of the input says what the request declares, the rest is
// the body. However it is cut into reads the outcome is one; a body that is refused is never given
// whole; what comes out of one that is taken, chunked anew, comes out again.

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/aws/aws_chunked_decoder.h"
#include "base/aws/verified_body.h"
#include "base/spawn.h"
#include "tests/fuzz/check.h"

namespace fenceline::fuzz {
namespace {

namespace aws = base::aws;
using base::Awaitable;
using base::Result;

/// Gives a body in pieces of `step` bytes, each in memory of its own, so that ASan sees who looks
/// at one for too long.
class CutSource final : public base::BodySource {
 public:
  CutSource(std::string_view bytes, std::size_t step, bool declares)
      : bytes_(bytes), step_(step), declares_(declares), size_(bytes.size()) {}

  [[nodiscard]] std::optional<std::uint64_t> declared_bytes() const override {
    return declares_ ? std::optional<std::uint64_t>(size_) : std::nullopt;
  }

  Awaitable<Result<std::string_view>> read() override {
    piece_ = std::make_unique<std::string>(bytes_.substr(0, step_));
    // Not where a short string would keep it.
    piece_->reserve(64);
    bytes_.remove_prefix(piece_->size());
    return Awaitable<Result<std::string_view>>::ready(std::string_view(*piece_));
  }

 private:
  std::string_view bytes_;
  std::size_t step_;
  bool declares_;
  std::size_t size_;
  std::unique_ptr<std::string> piece_;
};

struct Outcome {
  std::string_view code = "ok";
  std::string detail;
  std::string content;
  std::string checksum;  ///< As a line of a trailer.
  std::optional<std::uint64_t> declared_bytes;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Awaitable<void> read_all(aws::VerifiedBody* body, Outcome* outcome) {
  bool more = true;
  while (more) {
    auto piece = co_await body->read();
    if (!piece) {
      outcome->code = piece.error().code;
      outcome->detail = piece.error().detail;
    } else {
      outcome->content += *piece;
    }
    more = piece && !piece->empty();
  }
}

using Fields = std::vector<std::pair<std::string, std::string>>;

Outcome receive(const Fields& fields, std::string_view bytes, std::size_t step, bool declares) {
  base::RequestHead head;
  for (const auto& [name, value] : fields) {
    head.fields.push_back({.name = name, .value = value});
  }
  CutSource raw(bytes, step, declares);
  Outcome outcome;
  auto body = aws::open_body(head, raw, {.payload = aws::Payload::kUnsignedTrailer});
  if (!body) {
    outcome.code = body.error().code;
    outcome.detail = body.error().detail;
    return outcome;
  }
  outcome.declared_bytes = (*body)->declared_bytes();
  static boost::asio::io_context io(1);  // One for all inputs: it costs more than they do.
  io.restart();
  base::spawn(io, read_all(body->get(), &outcome), [](const std::exception_ptr& thrown) {
    check(thrown == nullptr, "nothing is thrown");
  });
  io.run();
  if (const auto checksum = (*body)->checksum(); checksum && outcome.code == "ok") {
    outcome.checksum = fmt::format("{}:{}", aws::field_of(checksum->kind), checksum->value);
  }
  return outcome;
}

/// `crc32 12` means: a CRC32 in the trailer, and 12 bytes are declared.
Fields fields_of(std::string_view line) {
  Fields fields;
  const std::string_view algorithm = take_until(line, ' ');
  if (!algorithm.empty()) {
    fields.emplace_back("x-amz-trailer", "x-amz-checksum-" + std::string(algorithm));
  }
  if (!line.empty()) {
    fields.emplace_back("x-amz-decoded-content-length", line);
  }
  return fields;
}

void check_body(std::string_view line, std::string_view bytes, std::string_view shown) {
  const Fields fields = fields_of(line);
  const Outcome whole = receive(fields, bytes, std::max<std::size_t>(bytes.size(), 1), true);
  for (const std::size_t step : {1U, 2U, 7U}) {
    Outcome cut = receive(fields, bytes, step, step != 2);
    if (whole.code != "ok") {
      check(!cut.declared_bytes || *cut.declared_bytes == 0 ||
                cut.content.size() < *cut.declared_bytes,
            "a refused body is never given whole", shown);
      cut.content = whole.content;
    }
    check(cut == whole, "the cut into reads changes nothing", shown);
  }
  if (whole.code != "ok") {
    check(!whole.code.empty() && !whole.detail.empty(), "a refusal says why", shown);
    return;
  }
  check(!whole.declared_bytes || *whole.declared_bytes == whole.content.size(),
        "the length is the declared one", shown);
  std::string again = fmt::format("{:x}\r\n{}\r\n0\r\n", whole.content.size(), whole.content);
  again.erase(0, whole.content.empty() ? 5 : 0);
  if (!whole.checksum.empty()) {
    again += whole.checksum + "\r\n";
  }
  check(receive(fields, again + "\r\n", 5, true) == whole, "chunked anew it is the same", shown);
}

/// All that a decoder says, but for where it cuts pieces.
std::string decode(const aws::AwsChunkedForm& form, std::string_view bytes, std::size_t step) {
  aws::AwsChunkedDecoder decoder(form);
  std::string said;
  std::string_view buffer;
  std::size_t seen = 0;
  while (true) {
    buffer = bytes.substr(0, seen);
    const auto next = decoder.next(buffer);
    if (!next) {
      return said + "refused: " + next.error().detail;
    }
    said += next->piece;
    bytes.remove_prefix(next->consumed_bytes);
    seen -= next->consumed_bytes;
    if (next->event == aws::AwsChunkedStep::Event::kChunkEnd) {
      said += fmt::format("\nchunk {}\n", decoder.chunk_signature());
    } else if (next->event == aws::AwsChunkedStep::Event::kBodyEnd) {
      return said + fmt::format("end {} {} {}", decoder.trailer_signature(),
                                decoder.trailers().size(), bytes.size());
    } else if (next->piece.empty()) {
      if (seen == bytes.size()) {
        return said + "more";
      }
      seen = std::min(seen + step, bytes.size());
    }
  }
}

void check_decoder(std::string_view bytes, std::string_view shown) {
  for (const bool has_trailer : {false, true}) {
    aws::AwsChunkedForm form{.is_signed = true, .has_trailer = has_trailer};
    if (has_trailer) {
      form.announced.emplace_back("x-amz-checksum-crc32");
    }
    const std::string whole = decode(form, bytes, std::max<std::size_t>(bytes.size(), 1));
    check(decode(form, bytes, 1) == whole, "the cut into reads changes nothing", shown);
    check(decode(form, bytes, 13) == whole, "the cut into reads changes nothing", shown);
  }
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fenceline::fuzz;  // NOLINT(google-build-using-namespace)
  const std::string_view input = as_text(data, size);
  std::string_view bytes = input;
  const std::string_view line = take_until(bytes, '\n');
  check_body(line, bytes, input);
  check_decoder(bytes, input);
  return 0;
}
