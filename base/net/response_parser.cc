#include "base/net/response_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "base/bytes.h"
#include "base/field_syntax.h"

namespace fenceline::base::net {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::size_t kUsualFields = 16;

tl::unexpected<Error> refuse(std::string detail) {
  return fail(ErrorKind::kUpstreamFailed, std::move(detail));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes the first line off `rest`. After `find_end` a CR stands only before a LF.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\r');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + kLineEnd.size());
  return line;
}

/// What one pass over the fields has found.
struct Seen {
  std::optional<std::string_view> content_length;
  std::optional<std::string_view> transfer_encoding;
  bool close = false;
  bool keep_alive = false;
};

void note_connection(std::string_view value, Seen& seen) {
  while (!value.empty()) {
    const std::size_t comma = std::min(value.find(','), value.size());
    const std::string_view option = trim_blanks(value.substr(0, comma));
    seen.close = seen.close || equal_names(option, "close");
    seen.keep_alive = seen.keep_alive || equal_names(option, "keep-alive");
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
}

Result<void> note_field(const Field& field, Seen& seen) {
  // The lengths of the three names: most fields have another.
  switch (field.name.size()) {
    case 10:
      if (equal_names(field.name, "Connection")) {
        note_connection(field.value, seen);
      }
      break;
    case 14:
      if (equal_names(field.name, "Content-Length")) {
        if (seen.content_length) {
          return refuse("Content-Length is there more than once");
        }
        seen.content_length = field.value;
      }
      break;
    case 17:
      if (equal_names(field.name, "Transfer-Encoding")) {
        if (seen.transfer_encoding) {
          return refuse("Transfer-Encoding is there more than once");
        }
        seen.transfer_encoding = field.value;
      }
      break;
    default:
      break;
  }
  return {};
}

/// Reads `HTTP/1.1 200 reason`; gives the minor version.
Result<int> read_status_line(std::string_view line, int& status) {
  constexpr std::string_view kVersion = "HTTP/1.";
  constexpr std::size_t kShortest = 12;  // HTTP/1.1 200
  const bool shaped = line.size() >= kShortest && line.starts_with(kVersion) &&
                      (line[7] == '0' || line[7] == '1') && line[8] == ' ' &&
                      std::all_of(line.begin() + 9, line.begin() + kShortest, is_digit) &&
                      (line.size() == kShortest || line[kShortest] == ' ');
  if (!shaped) {
    return refuse("its first line is not `HTTP/1.1`, a status and a reason");
  }
  status = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
  if (status < 100 || status > 599) {
    return refuse(fmt::format("the status {} does not exist", status));
  }
  return line[7] - '0';
}

Result<void> read_fields(std::string_view bytes, std::vector<Field>& fields, Seen& seen) {
  fields.reserve(kUsualFields);
  for (std::string_view line = take_line(bytes); !line.empty(); line = take_line(bytes)) {
    const std::size_t colon = token_length(line);
    if (colon == 0 || colon == line.size() || line[colon] != ':') {
      return refuse("a header line is not `name: value`");
    }
    fields.push_back({.name = line.substr(0, colon), .value = trim_blanks(line.substr(colon + 1))});
    Result<void> noted = note_field(fields.back(), seen);
    if (!noted) {
      return noted;
    }
  }
  return {};
}

Result<void> frame(ParsedResponse& parsed, const Seen& seen, int minor_version) {
  if (seen.transfer_encoding && seen.content_length) {
    return refuse("Transfer-Encoding and Content-Length are both there");
  }
  if (seen.transfer_encoding) {
    if (minor_version == 0 || !equal_names(*seen.transfer_encoding, "chunked")) {
      return refuse("Transfer-Encoding is not exactly `chunked`, or in HTTP/1.0");
    }
    parsed.head.chunked = true;
    parsed.body = BodyEnd::kChunked;
    return {};
  }
  parsed.body = BodyEnd::kClose;
  if (seen.content_length) {
    constexpr auto kMaxLength =
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::string_view digits = *seen.content_length;
    std::uint64_t length = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
    if (digits.empty() || !std::ranges::all_of(digits, is_digit) || error != std::errc() ||
        end != digits.data() + digits.size() || length > kMaxLength) {
      return refuse("Content-Length is not one decimal number of at most 2^63-1");
    }
    parsed.head.content_length = length;
    parsed.body = BodyEnd::kLength;
  }
  return {};
}

}  // namespace

Result<std::optional<std::size_t>> ResponseParser::find_end(std::string_view buffered) {
  const std::string_view text = buffered.substr(0, max_head_bytes_);
  for (;;) {
    position_ = find_control(text, position_);
    if (position_ >= text.size() || (position_ + 1 == text.size() && text[position_] == '\r')) {
      if (buffered.size() >= max_head_bytes_) {
        return refuse(fmt::format("its head is larger than {} bytes", max_head_bytes_));
      }
      return std::nullopt;
    }
    if (text[position_] == '\t' && line_start_ > 0) {
      ++position_;
      continue;
    }
    if (text[position_] != '\r' || text[position_ + 1] != '\n') {
      return refuse(
          fmt::format("the head has a control byte that is not allowed, at byte {}", position_));
    }
    const std::string_view line = text.substr(line_start_, position_ - line_start_);
    if (line.empty() && line_start_ == 0) {
      return refuse("it begins with an empty line");
    }
    if (line.starts_with(' ') || line.starts_with('\t')) {
      return refuse("a line begins with a blank (a folded line)");
    }
    position_ += kLineEnd.size();
    line_start_ = position_;
    if (line.empty()) {
      return position_;
    }
  }
}

Result<ParsedResponse> ResponseParser::read(std::string_view bytes, bool to_head) {
  ParsedResponse parsed;
  Result<int> minor_version = read_status_line(take_line(bytes), parsed.head.status);
  if (!minor_version) {
    return pass_on(minor_version.error());
  }
  Seen seen;
  Result<void> fields = read_fields(bytes, parsed.head.fields, seen);
  if (!fields) {
    return pass_on(fields.error());
  }
  Result<void> framed = frame(parsed, seen, *minor_version);
  if (!framed) {
    return pass_on(framed.error());
  }
  const int status = parsed.head.status;
  if (to_head || status < 200 || status == 204 || status == 304) {
    parsed.body = BodyEnd::kNoBody;
  }
  parsed.keep_alive =
      parsed.body != BodyEnd::kClose && !seen.close && (*minor_version == 1 || seen.keep_alive);
  return parsed;
}

}  // namespace fenceline::base::net
