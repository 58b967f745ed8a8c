#include "backends/s3/place.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "backends/http/upstream_target.h"
#include "backends/s3/object_name.h"
#include "base/digits.h"
#include "base/field_syntax.h"

namespace fenceline::backends::s3 {
namespace {

using base::ErrorKind;
using base::Result;

// Who the client was. `x-id` is only a label of some SDKs.
constexpr base::NameSet<9> kNotForwarded = {
    {"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders",
     "X-Amz-Signature", "X-Amz-Security-Token", "X-Amz-Content-Sha256", "x-id"}};

constexpr std::array<bool, 256> kLiteral = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789-._~")) {
    table[static_cast<std::uint8_t>(c)] = true;
  }
  return table;
}();

void append_encoded(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (kLiteral[byte]) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xFU];
    }
  }
}

unsigned value_of_hex(char c) {
  const char low = base::ascii_lower(c);
  return static_cast<unsigned>(low <= '9' ? low - '0' : low - 'a' + 10);
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size() || !base::is_hex_digit(text[i + 1]) ||
        !base::is_hex_digit(text[i + 2])) {
      return std::nullopt;
    }
    out += static_cast<char>(value_of_hex(text[i + 1]) * 16U + value_of_hex(text[i + 2]));
    i += 2;
  }
  return out;
}

tl::unexpected<base::Error> refused(ErrorKind kind, std::string_view code, std::string detail) {
  auto error = base::fail(kind, std::move(detail));
  error.value().code = code;
  return error;
}

}  // namespace

std::string Place::target(std::string_view query) const {
  std::string target;
  target.reserve(path.size() + query.size() + 1);
  target.append(path);
  if (!query.empty()) {
    target.append("?").append(query);
  }
  return target;
}

std::string_view bucket_upstream(const S3Options& options, std::string_view bucket) {
  return bucket.empty() || options.bucket.empty() ? bucket : std::string_view(options.bucket);
}

Place place_of(const S3Options& options, std::string_view bucket, std::string_view key) {
  Place place{.host = http::authority_of(options.http.client), .path = "/"};
  if (bucket.empty()) {
    return place;
  }
  if (options.addressing == Addressing::kVirtualHost) {
    place.host.insert(0, std::string(bucket) + ".");
    place.path.append(encode_key(key));
    return place;
  }
  place.path.append(bucket);
  if (!key.empty()) {
    place.path.append("/").append(encode_key(key));
  }
  return place;
}

Result<std::string> query_upstream(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    if (one.empty()) {
      continue;
    }
    const std::size_t equals = one.find('=');
    auto name = decoded(one.substr(0, equals));
    auto value = decoded(equals == std::string_view::npos ? "" : one.substr(equals + 1));
    if (!name || !value) {
      return refused(ErrorKind::kMalformedRequest, "InvalidURI",
                     fmt::format("the query has a broken percent-encoding in \"{}\"; encode `%` "
                                 "itself as %25",
                                 one));
    }
    if (!kNotForwarded.contains(*name)) {
      parameters.emplace_back(*std::move(name), *std::move(value));
    }
  }
  std::ranges::stable_sort(parameters);
  std::string out;
  for (const auto& [name, value] : parameters) {
    out.append(out.empty() ? "" : "&");
    append_encoded(out, name);
    if (!value.empty()) {
      out += '=';
      append_encoded(out, value);
    }
  }
  return out;
}

Result<std::string> copy_source_upstream(const S3Options& options, const S3Request& request,
                                         std::string_view source) {
  auto parsed = parse_copy_source(source);
  if (!parsed) {
    return base::pass_on(parsed.error());
  }
  if (parsed->bucket != request.bucket) {
    return refused(ErrorKind::kMalformedRequest, "InvalidArgument",
                   fmt::format("x-amz-copy-source names the bucket \"{}\", but this route copies "
                               "only within \"{}\"; read the object there and write it here",
                               parsed->bucket, request.bucket));
  }
  std::string out = "/";
  out.append(bucket_upstream(options, parsed->bucket)).append("/").append(encode_key(parsed->key));
  if (!parsed->version.empty()) {
    out.append("?versionId=");
    append_encoded(out, parsed->version);
  }
  return out;
}

}  // namespace fenceline::backends::s3
