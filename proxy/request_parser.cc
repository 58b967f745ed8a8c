#include "proxy/request_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdint>
#include <string>
#include <utility>

#include "proxy/chunked_decoder.h"
#include "proxy/framing_rules.h"
#include "proxy/head_scanner.h"

namespace fenceline::proxy {
namespace {

namespace http = boost::beast::http;
using base::ErrorKind;
using boost::beast::error_code;

std::string_view view_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// Fills a `RequestHead` from Beast's callbacks. Beast sees only whole heads that the scanner has
/// passed, and never a body.
class HeadReader final : public http::basic_parser<true> {
 public:
  HeadReader(base::RequestHead& head, std::uint32_t limit_bytes) : head_(head) {
    header_limit(limit_bytes);
    body_limit(boost::none);
  }

 private:
  void on_request_impl(http::verb /*method*/, boost::beast::string_view method,
                       boost::beast::string_view target, int version, error_code& /*ec*/) override {
    head_.method_text = view_of(method);
    head_.method = base::method_from(head_.method_text);
    head_.target = view_of(target);
    const std::size_t mark = std::min(head_.target.find('?'), head_.target.size());
    head_.path = head_.target.substr(0, mark);
    head_.query = head_.target.substr(std::min(mark + 1, head_.target.size()));
    head_.minor_version = version - 10;
  }
  void on_field_impl(http::field /*name*/, boost::beast::string_view name,
                     boost::beast::string_view value, error_code& /*ec*/) override {
    head_.fields.push_back(base::Field{.name = view_of(name), .value = view_of(value)});
  }
  void on_response_impl(int /*code*/, boost::beast::string_view /*reason*/, int /*version*/,
                        error_code& /*ec*/) override {}
  void on_header_impl(error_code& /*ec*/) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                         error_code& /*ec*/) override {}
  std::size_t on_body_impl(boost::beast::string_view /*body*/, error_code& /*ec*/) override {
    return 0;
  }
  void on_chunk_header_impl(std::uint64_t /*size*/, boost::beast::string_view /*extensions*/,
                            error_code& /*ec*/) override {}
  std::size_t on_chunk_body_impl(std::uint64_t /*remain*/, boost::beast::string_view /*body*/,
                                 error_code& /*ec*/) override {
    return 0;
  }
  void on_finish_impl(error_code& /*ec*/) override {}

  base::RequestHead& head_;
};

/// A sentence for what Beast refused. The scanner has taken care of the rest of its codes.
std::string explain(const error_code& ec) {
  if (ec == http::error::bad_field) {
    return "A header line is not `name: value`: the name is empty, has a blank before the colon, "
           "or a byte that is not allowed in a token.";
  }
  if (ec == http::error::bad_content_length || ec == http::error::multiple_content_length) {
    return "The field Content-Length is not one decimal number, or comes with Transfer-Encoding. "
           "Send the length of the body in bytes, digits only.";
  }
  if (ec == http::error::bad_transfer_encoding) {
    return "The field Transfer-Encoding is there more than once, or comes with Content-Length. "
           "Send one of them, once.";
  }
  return "The request head is not valid HTTP/1.1 (" + ec.message() + ").";
}

}  // namespace

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
  base::Result<void> read_head(std::size_t field_lines);
  void clear_head();

  HeadLimits limits_;
  HeadScanner scanner_;
  std::string bytes_;  ///< The head itself; every view of `head_` points into it.
  base::RequestHead head_;
  std::optional<HeadReader> reader_;
  ChunkedDecoder chunks_;
  std::uint64_t remaining_bytes_ = 0;  ///< Of a body with Content-Length.
};

base::Result<void> RequestParser::Impl::read_head(std::size_t field_lines) {
  reader_.emplace(head_, static_cast<std::uint32_t>(limits_.max_head_bytes));
  error_code ec;
  const std::size_t taken = reader_->put(boost::asio::buffer(bytes_), ec);
  if (ec) {
    return base::fail(ErrorKind::kMalformedRequest, explain(ec));
  }
  // Two readers with different ideas of where a head ends is what smuggling is made of.
  if (taken != bytes_.size() || !reader_->is_header_done() || head_.fields.size() != field_lines) {
    return base::fail(ErrorKind::kMalformedRequest, "The request head is ambiguous.");
  }
  return apply_field_rules(head_);
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
  const base::Result<void> read = read_head(found.fields);
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
