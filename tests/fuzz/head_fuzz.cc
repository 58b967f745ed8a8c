// Requests: heads and bodies as they come from a connection. Whatever is accepted keeps the
// promises of `RequestHead`, and how the bytes were cut into reads never changes the outcome.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/field_syntax.h"
#include "proxy/request_parser.h"
#include "proxy/uri_syntax.h"
#include "tests/fuzz/check.h"

namespace fenceline::fuzz {
namespace {

using proxy::HeadLimits;
using proxy::RequestParser;

/// One request as it was understood; `rest` is where the next one begins.
struct Outcome {
  std::optional<base::ErrorKind> error;
  std::string detail;
  std::string head;
  std::string body;
  bool complete = false;
  std::size_t used_bytes = 0;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

std::string describe(const base::RequestHead& head) {
  std::string text =
      fmt::format("{} {} [{}|{}] 1.{} length {} chunked {} keep {} continue {}", head.method_text,
                  head.target, head.path, head.query, head.minor_version,
                  head.content_length ? std::to_string(*head.content_length) : "none", head.chunked,
                  head.keep_alive, head.expects_continue);
  for (const base::Field& field : head.fields) {
    text += fmt::format("\n<{}>=<{}>", field.name, field.value);
  }
  return text;
}

void check_head(const base::RequestHead& head, const HeadLimits& limits, std::string_view raw) {
  check(base::is_token(head.method_text), "a method is a token", raw);
  check(head.method == base::method_from(head.method_text), "the method is what was sent", raw);
  check(head.target.starts_with('/') && head.target.size() <= limits.max_target_bytes,
        "a target is in origin form, within its limit", raw);
  check(proxy::find_foreign_byte(head.target) == std::string_view::npos,
        "a target has only bytes of a URI", raw);
  const std::string_view cut = head.target.substr(0, head.path.size());
  check(head.path == cut && head.path.find('?') == head.path.npos, "a path ends before `?`", raw);
  check(head.query.empty() || head.target.substr(head.path.size() + 1) == head.query,
        "path and query are the target", raw);
  check(head.minor_version == 0 || head.minor_version == 1, "HTTP/1.0 or HTTP/1.1", raw);
  check(head.fields.size() <= limits.max_fields, "fields are within their limit", raw);
  for (const base::Field& field : head.fields) {
    check(base::is_token(field.name) && base::is_field_value(field.value) &&
              base::trim_blanks(field.value) == field.value,
          "a field is a name and a value without blanks around it", raw);
  }
  const std::size_t hosts = head.count("Host");
  check(hosts == 1 || (hosts == 0 && head.minor_version == 0), "one Host", raw);
  check(hosts == 0 || proxy::is_valid_host(*head.only("Host")), "Host is a host", raw);
  const std::size_t lengths = head.count("Content-Length");
  const std::size_t codings = head.count("Transfer-Encoding");
  check(lengths + codings <= 1, "a body is framed in one way", raw);
  check(head.content_length.has_value() == (lengths == 1) && head.chunked == (codings == 1),
        "the framing is what the fields say", raw);
  check(!head.content_length || std::to_string(*head.content_length).size() <= 19,
        "a length has 63 bits", raw);
  check(!head.chunked || head.minor_version == 1, "no chunks in HTTP/1.0", raw);
  check(!head.expects_continue ||
            ((head.chunked || head.content_length.value_or(0) > 0) && head.minor_version == 1),
        "100-continue is for a body of HTTP/1.1", raw);
}

/// A session's loop around one request.
class Reader {
 public:
  Reader(RequestParser& parser, const HeadLimits& limits, std::string_view raw)
      : parser_(parser), limits_(limits), raw_(raw) {}

  /// False once the outcome is final.
  bool feed(std::string_view more) {
    buffer_.append(more);
    return (has_head_ || feed_head()) && (!has_head_ || feed_body());
  }

  [[nodiscard]] const Outcome& outcome() const { return outcome_; }

 private:
  bool fail(const base::Error& error) {
    check(!error.detail.empty(), "a refusal has a reason", raw_);
    outcome_.error = error.kind;
    outcome_.detail = error.detail;
    outcome_.used_bytes = 0;  // how far a broken body was read depends on the reads
    return false;
  }

  bool feed_head() {
    const auto size = parser_.parse_head(buffer_);
    if (!size) {
      return fail(size.error());
    }
    if (*size) {
      has_head_ = true;
      check(**size <= buffer_.size() && buffer_.substr(0, **size).ends_with("\r\n\r\n"),
            "a head ends with an empty line", raw_);
      drop(**size);
      check_head(parser_.head(), limits_, raw_);
      outcome_.head = describe(parser_.head());
    }
    return true;
  }

  bool feed_body() {
    while (!parser_.body_finished()) {
      const auto step = parser_.parse_body(buffer_);
      if (!step) {
        check(!parser_.parse_body(buffer_), "a broken body stays broken", raw_);
        return fail(step.error());
      }
      check(step->consumed_bytes <= buffer_.size() && step->piece.size() <= step->consumed_bytes,
            "a piece is part of what was consumed", raw_);
      outcome_.body.append(step->piece);
      check(step->finished == parser_.body_finished(), "the end of a body is said", raw_);
      if (step->consumed_bytes == 0) {
        return true;
      }
      drop(step->consumed_bytes);
    }
    outcome_.complete = true;
    const auto length = parser_.head().content_length;
    check(!length || *length == outcome_.body.size(), "a body is as long as it was said", raw_);
    check(describe(parser_.head()) == outcome_.head, "a head outlives its buffer", raw_);
    return false;
  }

  /// Old bytes are overwritten, so that a view into them would be seen.
  void drop(std::size_t bytes) {
    outcome_.used_bytes += bytes;
    std::string rest = buffer_.substr(bytes);
    std::ranges::fill(buffer_, '!');
    buffer_ = std::move(rest);
  }

  RequestParser& parser_;
  HeadLimits limits_;
  std::string_view raw_;
  std::string buffer_;
  bool has_head_ = false;
  Outcome outcome_;
};

/// Reads one request; `next` gives the length of the next read, at least 1.
template <typename Next>
Outcome read(RequestParser& parser, const HeadLimits& limits, std::string_view raw, Next next) {
  parser.reset();
  Reader reader(parser, limits, raw);
  for (std::string_view rest = raw; !rest.empty();) {
    const std::size_t bytes = std::min<std::size_t>(next(), rest.size());
    if (!reader.feed(rest.substr(0, bytes))) {
      break;
    }
    rest.remove_prefix(bytes);
  }
  return reader.outcome();
}

/// Every request of one connection, each whole, byte by byte and in pieces.
void check_connection(std::string_view raw, const HeadLimits& limits) {
  constexpr std::size_t kMostRequests = 8;
  RequestParser reused(limits);
  Choices choices(raw);
  for (std::size_t request = 0; request < kMostRequests && !raw.empty(); ++request) {
    RequestParser fresh(limits);
    const Outcome whole = read(fresh, limits, raw, [&] { return raw.size(); });
    const Outcome bytewise = read(fresh, limits, raw, [] { return std::size_t{1}; });
    check(bytewise == whole, "byte by byte is the same", raw);
    const Outcome pieces = read(reused, limits, raw, [&] { return 1 + choices.below(40); });
    check(pieces == whole, "pieces, and a parser that was used before, are the same", raw);
    if (!whole.complete) {
      return;
    }
    raw.remove_prefix(whole.used_bytes);
  }
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view raw = fenceline::fuzz::as_text(data, size);
  fenceline::fuzz::check_connection(raw, {});
  // Limits that a short input reaches.
  fenceline::fuzz::check_connection(
      raw, {.max_head_bytes = 128, .max_target_bytes = 24, .max_fields = 3});
  return 0;
}
