#include "proxy/request_parser.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/net/chunked_decoder.h"
#include "proxy/framing_rules.h"
#include "proxy/head_scanner.h"
#include "proxy/head_splitter.h"

namespace fenceline::proxy {

using base::net::BodyStep;
using base::net::ChunkedDecoder;

class RequestParser::Impl {
 public:
  explicit Impl(HeadLimits limits) : limits_(limits), scanner_(limits) {}

  base::Result<std::optional<std::size_t>> parse_head(std::string_view buffered);
  base::Result<BodyStep> parse_body(std::string_view buffered);
  void reset();

  [[nodiscard]] bool body_finished() const {
    return head_.chunked ? chunks_.finished() : remaining_bytes_ == 0;
  }
  [[nodiscard]] const base::RequestHead& head() const { return head_; }

 private:
  base::Result<void> read_head();
  void clear_head();

  HeadLimits limits_;
  HeadScanner scanner_;
  std::string bytes_;  ///< The head itself; every view of `head_` points into it.
  base::RequestHead head_;
  ChunkedDecoder chunks_;
  std::uint64_t remaining_bytes_ = 0;  ///< Of a body with Content-Length.
};

base::Result<void> RequestParser::Impl::read_head() {
  base::Result<void> split = split_head(bytes_, head_);
  return split ? apply_field_rules(head_) : split;
}

base::Result<std::optional<std::size_t>> RequestParser::Impl::parse_head(
    std::string_view buffered) {
  const base::Result<std::optional<HeadSpan>> span = scanner_.scan(buffered);
  if (!span) {
    return tl::unexpected<base::Error>(span.error());
  }
  if (!*span) {
    return std::nullopt;
  }
  const HeadSpan& found = **span;
  bytes_.assign(buffered.substr(found.begin, found.end - found.begin));
  const base::Result<void> read = read_head();
  if (!read) {
    clear_head();
    return tl::unexpected<base::Error>(read.error());
  }
  remaining_bytes_ = head_.content_length.value_or(0);
  return found.end;
}

base::Result<BodyStep> RequestParser::Impl::parse_body(std::string_view buffered) {
  if (head_.chunked) {
    return chunks_.next(buffered);
  }
  BodyStep step;
  step.piece = buffered.substr(
      0, static_cast<std::size_t>(std::min<std::uint64_t>(remaining_bytes_, buffered.size())));
  step.consumed_bytes = step.piece.size();
  remaining_bytes_ -= step.consumed_bytes;
  step.finished = remaining_bytes_ == 0;
  return step;
}

void RequestParser::Impl::clear_head() {
  // The fields keep their memory for the next request.
  std::vector<base::Field> fields = std::move(head_.fields);
  fields.clear();
  head_ = base::RequestHead{};
  head_.fields = std::move(fields);
}

void RequestParser::Impl::reset() {
  clear_head();
  scanner_.reset();
  chunks_.reset();
  remaining_bytes_ = 0;
}

RequestParser::RequestParser(HeadLimits limits) : impl_(std::make_unique<Impl>(limits)) {}

RequestParser::~RequestParser() = default;

base::Result<std::optional<std::size_t>> RequestParser::parse_head(std::string_view buffered) {
  return impl_->parse_head(buffered);
}

const base::RequestHead& RequestParser::head() const { return impl_->head(); }

bool RequestParser::body_finished() const { return impl_->body_finished(); }

base::Result<BodyStep> RequestParser::parse_body(std::string_view buffered) {
  return impl_->parse_body(buffered);
}

void RequestParser::reset() { impl_->reset(); }

}  // namespace fenceline::proxy
