#include "proxy/framing_rules.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/field_syntax.h"
#include "proxy/uri_syntax.h"

namespace fenceline::proxy {
namespace {

using base::ErrorKind;

tl::unexpected<base::Error> refuse(std::string detail) {
  return base::fail(ErrorKind::kMalformedRequest, std::move(detail));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What one pass over the fields has found.
struct Seen {
  std::optional<std::string_view> host;
  std::optional<std::string_view> content_length;
  std::optional<std::string_view> transfer_encoding;
  std::optional<std::string_view> expect;
  bool expect_twice = false;
  bool close = false;
  bool keep_alive = false;
};

base::Result<void> note_connection(std::string_view value, Seen& seen) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view option = base::trim_blanks(value.substr(0, comma));
    if (!option.empty() && !base::is_token(option)) {
      return refuse("The field Connection is not a list of options, such as `close`.");
    }
    seen.close = seen.close || base::equal_names(option, "close");
    seen.keep_alive = seen.keep_alive || base::equal_names(option, "keep-alive");
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
  return {};
}

/// False if `slot` was taken already.
bool take(std::optional<std::string_view>& slot, std::string_view value) {
  if (slot) {
    return false;
  }
  slot = value;
  return true;
}

base::Result<void> note_field(const base::Field& field, Seen& seen) {
  // The shortest and the longest of the names below: most fields are neither.
  if (field.name.size() < 4 || field.name.size() > 17) {
    return {};
  }
  if (base::equal_names(field.name, "Host")) {
    if (!take(seen.host, field.value)) {
      return refuse("The field Host is there more than once. Send it once.");
    }
  } else if (base::equal_names(field.name, "Content-Length")) {
    if (!take(seen.content_length, field.value)) {
      return refuse("The field Content-Length is there more than once. Send it once.");
    }
  } else if (base::equal_names(field.name, "Transfer-Encoding")) {
    if (!take(seen.transfer_encoding, field.value)) {
      return refuse("The field Transfer-Encoding is there more than once. Send it once.");
    }
  } else if (base::equal_names(field.name, "Connection")) {
    return note_connection(field.value, seen);
  } else if (base::equal_names(field.name, "Expect")) {
    seen.expect_twice = !take(seen.expect, field.value) || seen.expect_twice;
  }
  return {};
}

base::Result<void> check_host(const base::RequestHead& head, const Seen& seen) {
  if (!seen.host) {
    if (head.minor_version == 0) {
      return {};
    }
    return refuse("The field Host is missing. HTTP/1.1 wants exactly one.");
  }
  if (!is_valid_host(*seen.host)) {
    return refuse("The field Host is not `name` or `name:port`. Send the authority of the URL.");
  }
  return {};
}

/// Never called with exactly `chunked`: tells a coding that we lack from nonsense.
tl::unexpected<base::Error> refuse_coding(std::string_view value) {
  bool well_formed = true;
  std::size_t chunked = 0;
  bool chunked_last = false;
  std::string_view rest = value;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const std::string_view coding = base::trim_blanks(rest.substr(0, comma));
    well_formed = well_formed && base::is_token(coding);
    chunked_last = base::equal_names(coding, "chunked");
    chunked += chunked_last ? 1 : 0;
    rest = more ? rest.substr(comma + 1) : std::string_view();
  }
  const bool in_order = chunked == 0 || (chunked == 1 && chunked_last);
  if (well_formed && in_order) {
    return base::fail(ErrorKind::kMethodUnknown,
                      "The transfer coding is not implemented. Send the body as it is, with "
                      "Content-Length or `Transfer-Encoding: chunked`.");
  }
  return refuse("The field Transfer-Encoding is not exactly `chunked`. Send that or leave it out.");
}

base::Result<void> frame_body(base::RequestHead& head, const Seen& seen) {
  if (seen.transfer_encoding && seen.content_length) {
    return refuse("Transfer-Encoding and Content-Length are both there. Send only one of them.");
  }
  if (seen.transfer_encoding) {
    if (head.minor_version == 0) {
      return refuse("HTTP/1.0 has no Transfer-Encoding. Use Content-Length or HTTP/1.1.");
    }
    if (!base::equal_names(*seen.transfer_encoding, "chunked")) {
      return refuse_coding(*seen.transfer_encoding);
    }
    head.chunked = true;
  }
  if (seen.content_length) {
    const std::string_view digits = *seen.content_length;
    constexpr auto kMaxLength =
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    std::uint64_t length = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
    if (digits.empty() || !std::ranges::all_of(digits, is_digit) || error != std::errc() ||
        end != digits.data() + digits.size() || length > kMaxLength) {
      return refuse(
          "The field Content-Length is not one decimal number of at most 2^63-1. Send the length "
          "of the body in bytes, digits only.");
    }
    head.content_length = length;
  }
  return {};
}

}  // namespace

base::Result<void> apply_field_rules(base::RequestHead& head) {
  Seen seen;
  for (const base::Field& field : head.fields) {
    base::Result<void> noted = note_field(field, seen);
    if (!noted) {
      return noted;
    }
  }
  base::Result<void> host = check_host(head, seen);
  if (!host) {
    return host;
  }
  base::Result<void> framed = frame_body(head, seen);
  if (!framed) {
    return framed;
  }
  head.keep_alive = !seen.close && (head.minor_version != 0 || seen.keep_alive);
  if (seen.expect && head.minor_version != 0) {
    if (seen.expect_twice || !base::equal_names(*seen.expect, "100-continue")) {
      return base::fail(ErrorKind::kExpectationFailed,
                        "The field Expect is not exactly `100-continue`. Send that or leave it "
                        "out.");
    }
    head.expects_continue = head.chunked || head.content_length.value_or(0) > 0;
  }
  return {};
}

}  // namespace fenceline::proxy
