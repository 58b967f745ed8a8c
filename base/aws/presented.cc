#include "base/aws/presented.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/aws/verify.h"
#include "base/field_syntax.h"

namespace fenceline::base::aws {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::size_t kSignatureDigits = 64;
constexpr std::size_t kMaxSignedNames = 128;
constexpr std::size_t kUsualSignedNames = 8;
constexpr std::string_view kSwitch =
    "Signature Version 2 is not supported. Switch the client to version 4: boto3 "
    "Config(signature_version='s3v4'), aws configure set default.s3.signature_version s3v4, s3cmd "
    "signature_v2 = False.";

tl::unexpected<Error> malformed(bool presigned, std::string detail) {
  return refuse(ErrorKind::kMalformedRequest,
                presigned ? "AuthorizationQueryParametersError" : "AuthorizationHeaderMalformed",
                std::move(detail));
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

int number_of(std::string_view digits) {
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::optional<SystemTime> time_of(std::string_view text) {
  const bool shaped = text.size() == 16 && text[8] == 'T' && text[15] == 'Z' &&
                      is_digits(text.substr(0, 8)) && is_digits(text.substr(9, 6));
  if (!shaped) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{
      std::chrono::year(number_of(text.substr(0, 4))),
      std::chrono::month(static_cast<unsigned>(number_of(text.substr(4, 2)))),
      std::chrono::day(static_cast<unsigned>(number_of(text.substr(6, 2))))};
  const int hours = number_of(text.substr(9, 2));
  const int minutes = number_of(text.substr(11, 2));
  const int seconds = number_of(text.substr(13, 2));
  if (!date.ok() || hours > 23 || minutes > 59 || seconds > 59) {
    return std::nullopt;
  }
  return std::chrono::sys_days(date) + std::chrono::hours(hours) + std::chrono::minutes(minutes) +
         std::chrono::seconds(seconds);
}

// As decoded from a presigned URL it could be anything, a line feed too.
bool is_region(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    const char lower = ascii_lower(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

Result<void> read_credential(std::string_view text, Presented& into) {
  // The access key comes first and may hold slashes; the scope is the last four parts.
  std::array<std::string_view, 4> parts;
  std::string_view rest = text;
  for (std::string_view& part : parts) {
    const std::size_t slash = rest.rfind('/');
    if (slash == std::string_view::npos) {
      return malformed(into.presigned,
                       "The credential is not <access key>/<date>/<region>/s3/aws4_request.");
    }
    part = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
  }
  if (rest.empty() || parts[0] != "aws4_request" || parts[1] != "s3" || !is_region(parts[2]) ||
      parts[3].size() != 8 || !is_digits(parts[3])) {
    return malformed(into.presigned,
                     "The scope of the credential is not <date>/<region>/s3/aws4_request.");
  }
  into.access_key = rest;
  into.scope = {.date = std::string(parts[3]), .region = std::string(parts[2])};
  return {};
}

Result<void> read_signed_names(std::string_view text, Presented& into) {
  into.signed_names.reserve(kUsualSignedNames);
  while (true) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view name = text.substr(0, end);
    const bool good = !name.empty() && std::ranges::all_of(name, [](char c) {
      return is_token_char(c) && c == ascii_lower(c);
    });
    if (!good || into.signed_names.size() == kMaxSignedNames ||
        (!into.signed_names.empty() && into.signed_names.back() >= name)) {
      return malformed(into.presigned,
                       "SignedHeaders is not a list of different names in lower case, sorted and "
                       "with semicolons between them.");
    }
    into.signed_names.emplace_back(name);
    if (end == text.size()) {
      return {};
    }
    text.remove_prefix(end + 1);
  }
}

Result<void> read_signature(std::string_view text, Presented& into) {
  const bool good = text.size() == kSignatureDigits && std::ranges::all_of(text, [](char c) {
                      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                    });
  if (!good) {
    return malformed(into.presigned, "The signature is not 64 lower-case hexadecimal digits.");
  }
  into.signature = text;
  return {};
}

Result<void> read_time(std::string_view text, Presented& into) {
  const auto time = time_of(text);
  if (!time) {
    return refuse(ErrorKind::kForbidden, "AccessDenied",
                  "A signed request needs its time, X-Amz-Date, as YYYYMMDDTHHMMSSZ.");
  }
  into.timestamp = text;
  into.time = *time;
  if (into.scope.date != text.substr(0, 8)) {
    return malformed(into.presigned,
                     "The date in the scope of the credential is not that of X-Amz-Date.");
  }
  return {};
}

/// One of `Credential`, `SignedHeaders`, `Signature` in an `Authorization` field.
std::optional<std::string_view> part_of(std::string_view text, std::string_view name) {
  std::optional<std::string_view> found;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view part = trim_blanks(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (part.starts_with(name) && part.substr(name.size()).starts_with('=')) {
      if (found) {
        return std::nullopt;
      }
      found = part.substr(name.size() + 1);
    }
  }
  return found;
}

Result<std::optional<Presented>> from_field(const RequestHead& head, std::string_view value) {
  if (value.starts_with("AWS ")) {
    return refuse(ErrorKind::kMalformedRequest, "InvalidRequest", std::string(kSwitch));
  }
  if (!value.starts_with(kAlgorithm) || !value.substr(kAlgorithm.size()).starts_with(' ')) {
    return refuse(ErrorKind::kMalformedRequest, "InvalidArgument",
                  "The Authorization field is none of AWS4-HMAC-SHA256. Sign the request with "
                  "Signature Version 4.");
  }
  value.remove_prefix(kAlgorithm.size() + 1);
  const auto credential = part_of(value, "Credential");
  const auto names = part_of(value, "SignedHeaders");
  const auto signature = part_of(value, "Signature");
  if (!credential || !names || !signature) {
    return malformed(false,
                     "The Authorization field needs Credential, SignedHeaders and Signature, each "
                     "once.");
  }
  Presented presented;
  if (auto read = read_credential(*credential, presented); !read) {
    return pass_on(read.error());
  }
  if (auto read = read_signed_names(*names, presented); !read) {
    return pass_on(read.error());
  }
  if (auto read = read_signature(*signature, presented); !read) {
    return pass_on(read.error());
  }
  if (auto read = read_time(head.only("X-Amz-Date").value_or(""), presented); !read) {
    return pass_on(read.error());
  }
  return std::optional(std::move(presented));
}

/// The values of a presigned URL, each at most once.
struct QueryValues {
  std::optional<std::string> algorithm;
  std::optional<std::string> credential;
  std::optional<std::string> date;
  std::optional<std::string> expires;
  std::optional<std::string> signed_names;
  std::optional<std::string> signature;
  std::optional<std::string> session;
  bool twice = false;
  bool version_2 = false;
};

void take(std::optional<std::string>& into, const std::string& value, bool& twice) {
  twice = twice || into.has_value();
  into = value;
}

QueryValues values_of(const QueryPairs& pairs) {
  QueryValues values;
  for (const auto& [name, value] : pairs) {
    if (name == "X-Amz-Algorithm") {
      take(values.algorithm, value, values.twice);
    } else if (name == "X-Amz-Credential") {
      take(values.credential, value, values.twice);
    } else if (name == "X-Amz-Date") {
      take(values.date, value, values.twice);
    } else if (name == "X-Amz-Expires") {
      take(values.expires, value, values.twice);
    } else if (name == "X-Amz-SignedHeaders") {
      take(values.signed_names, value, values.twice);
    } else if (name == "X-Amz-Signature") {
      take(values.signature, value, values.twice);
    } else if (name == "X-Amz-Security-Token") {
      take(values.session, value, values.twice);
    } else if (name == "AWSAccessKeyId" || name == "Signature") {
      values.version_2 = true;
    }
  }
  return values;
}

Result<void> read_life(std::string_view text, Presented& into) {
  constexpr std::size_t kMaxDigits = 6;
  const int seconds = is_digits(text) && text.size() <= kMaxDigits ? number_of(text) : 0;
  if (seconds < 1 || std::chrono::seconds(seconds) > kMaxPresignedLife) {
    return malformed(true, "X-Amz-Expires is not a number of seconds from 1 to 604800.");
  }
  into.life = std::chrono::seconds(seconds);
  return {};
}

Result<std::optional<Presented>> from_query(QueryPairs pairs, const QueryValues& values) {
  if (values.twice) {
    return malformed(true, "A parameter of the signature is in the query twice.");
  }
  if (!values.algorithm || !values.credential || !values.date || !values.expires ||
      !values.signed_names || !values.signature || *values.algorithm != kAlgorithm) {
    return malformed(true,
                     "A presigned URL needs X-Amz-Algorithm=AWS4-HMAC-SHA256, X-Amz-Credential, "
                     "X-Amz-Date, X-Amz-Expires, X-Amz-SignedHeaders and X-Amz-Signature.");
  }
  Presented presented;
  presented.presigned = true;
  presented.session_token = values.session.value_or("");
  if (auto read = read_credential(*values.credential, presented); !read) {
    return pass_on(read.error());
  }
  if (auto read = read_signed_names(*values.signed_names, presented); !read) {
    return pass_on(read.error());
  }
  if (auto read = read_signature(*values.signature, presented); !read) {
    return pass_on(read.error());
  }
  if (auto read = read_time(*values.date, presented); !read) {
    return pass_on(read.error());
  }
  if (auto read = read_life(*values.expires, presented); !read) {
    return pass_on(read.error());
  }
  std::erase_if(pairs, [](const auto& pair) { return pair.first == "X-Amz-Signature"; });
  presented.query = std::move(pairs);
  return std::optional(std::move(presented));
}

}  // namespace

tl::unexpected<Error> refuse(ErrorKind kind, std::string_view code, std::string detail) {
  auto refusal = fail(kind, std::move(detail));
  refusal.value().code = code;
  return refusal;
}

Result<std::optional<Presented>> presented_by(const RequestHead& head) {
  auto pairs = split_query(head.query);
  if (!pairs) {
    return pass_on(pairs.error());
  }
  const QueryValues values = values_of(*pairs);
  const bool in_query = values.algorithm || values.signature || values.credential;
  const std::size_t fields = head.count("Authorization");
  if (fields > 1 || (fields == 1 && (in_query || values.version_2))) {
    return refuse(ErrorKind::kMalformedRequest, "InvalidArgument",
                  "The request carries credentials twice. Send one Authorization field, or a "
                  "presigned URL.");
  }
  if (values.version_2) {
    return refuse(ErrorKind::kMalformedRequest, "InvalidRequest", std::string(kSwitch));
  }
  if (in_query) {
    return from_query(std::move(*pairs), values);
  }
  if (fields == 0) {
    return std::nullopt;
  }
  auto presented = from_field(head, *head.only("Authorization"));
  if (presented && *presented) {
    (*presented)->query = std::move(*pairs);
  }
  return presented;
}

}  // namespace fenceline::base::aws
