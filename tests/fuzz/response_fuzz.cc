// Heads of answers as they come from an upstream. Whatever is accepted is framed in one way, and
// how the bytes were cut into reads never changes the outcome.

#include <algorithm>
#include <optional>
#include <string>

#include "base/field_syntax.h"
#include "base/net/response_parser.h"
#include "tests/fuzz/check.h"

namespace fenceline::fuzz {
namespace {

using base::net::BodyEnd;
using base::net::ParsedResponse;
using base::net::ResponseParser;

constexpr std::size_t kMaxHeadBytes = 1024;

/// The length of the head, a refusal, or nothing yet.
struct Found {
  bool refused = false;
  std::string detail;
  std::optional<std::size_t> end;
  friend bool operator==(const Found&, const Found&) = default;
};

Found find(std::string_view raw, std::size_t step) {
  ResponseParser parser(kMaxHeadBytes);
  for (std::size_t size = std::min(step, raw.size());; size = std::min(size + step, raw.size())) {
    const auto end = parser.find_end(raw.substr(0, size));
    if (!end) {
      return {.refused = true, .detail = end.error().detail, .end = {}};
    }
    if (*end || size == raw.size()) {
      return {.refused = false, .detail = {}, .end = *end};
    }
  }
}

void check_head(std::string_view bytes, bool to_head) {
  const auto parsed = ResponseParser::read(bytes, to_head);
  if (!parsed) {
    check(parsed.error().kind == base::ErrorKind::kUpstreamFailed, "a refusal is the upstream's",
          bytes);
    return;
  }
  const base::net::ResponseHead& head = parsed->head;
  check(head.status >= 100 && head.status <= 599, "a status exists", bytes);
  std::size_t lengths = 0;
  std::size_t codings = 0;
  for (const base::Field& field : head.fields) {
    check(base::is_token(field.name) && base::is_field_value(field.value) &&
              base::trim_blanks(field.value) == field.value,
          "a field is a name and a value without blanks around it", bytes);
    lengths += base::equal_names(field.name, "Content-Length") ? 1 : 0;
    codings += base::equal_names(field.name, "Transfer-Encoding") ? 1 : 0;
  }
  check(lengths + codings <= 1, "a body is framed in one way", bytes);
  check(head.content_length.has_value() == (lengths == 1) && head.chunked == (codings == 1),
        "the framing is what the fields say", bytes);
  const bool bodyless = to_head || head.status < 200 || head.status == 204 || head.status == 304;
  check(bodyless == (parsed->body == BodyEnd::kNoBody), "who has no body", bytes);
  check(bodyless || head.chunked == (parsed->body == BodyEnd::kChunked), "chunks", bytes);
  check(bodyless || lengths == (parsed->body == BodyEnd::kLength ? 1U : 0U), "length", bytes);
  check(!parsed->keep_alive || parsed->body != BodyEnd::kClose,
        "a body up to the end ends the connection", bytes);
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fenceline::fuzz;  // NOLINT(google-build-using-namespace)
  const std::string_view raw = as_text(data, size);
  const Found whole = find(raw, std::max<std::size_t>(raw.size(), 1));
  check(find(raw, 1) == whole, "the cut into reads changes nothing", raw);
  check(find(raw, 7) == whole, "the cut into reads changes nothing", raw);
  if (whole.end) {
    check(*whole.end <= kMaxHeadBytes && raw.substr(0, *whole.end).ends_with("\r\n\r\n"),
          "a head ends with an empty line, within its limit", raw);
    check_head(raw.substr(0, *whole.end), false);
    check_head(raw.substr(0, *whole.end), true);
  }
  return 0;
}
