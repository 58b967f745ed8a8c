#include "backends/s3/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "base/digits.h"
#include "base/field_syntax.h"

namespace fenceline::backends::s3 {
namespace {

/// More than any client sends; each is compared with all others.
constexpr std::size_t kMaxParameters = 100;
constexpr std::size_t kMaxQuotedBytes = 64;

constexpr std::array<std::string_view, 9> kSignature{
    "x-id",
    "X-Amz-Algorithm",
    "X-Amz-Content-Sha256",
    "X-Amz-Credential",
    "X-Amz-Date",
    "X-Amz-Expires",
    "X-Amz-Security-Token",
    "X-Amz-Signature",
    "X-Amz-SignedHeaders",
};

/// Fields of a presigner that concern nobody but the one who made them.
constexpr std::array<std::string_view, 10> kEndHere{
    "x-amz-checksum-algorithm", "x-amz-checksum-crc32", "x-amz-checksum-crc32c",
    "x-amz-checksum-crc64nvme", "x-amz-checksum-mode",  "x-amz-checksum-sha1",
    "x-amz-checksum-sha256",    "x-amz-checksum-type",  "x-amz-sdk-checksum-algorithm",
    "x-amz-user-agent",
};

constexpr std::array<std::string_view, 17> kMovedFields{
    "x-amz-acl",
    "x-amz-expected-bucket-owner",
    "x-amz-grant-full-control",
    "x-amz-grant-read",
    "x-amz-grant-read-acp",
    "x-amz-grant-write-acp",
    "x-amz-object-lock-legal-hold",
    "x-amz-object-lock-mode",
    "x-amz-object-lock-retain-until-date",
    "x-amz-request-payer",
    "x-amz-server-side-encryption",
    "x-amz-server-side-encryption-aws-kms-key-id",
    "x-amz-server-side-encryption-bucket-key-enabled",
    "x-amz-server-side-encryption-context",
    "x-amz-storage-class",
    "x-amz-tagging",
    "x-amz-website-redirect-location",
};
constexpr std::string_view kMetadata = "x-amz-meta-";
/// Our own stamps, which no client writes.
constexpr std::string_view kStamps = "x-amz-meta-fencing-";

bool contains_field(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::any_of(names,
                             [name](std::string_view one) { return base::equal_names(one, name); });
}

tl::unexpected<base::Error> refuse(std::string detail) {
  base::Error error{base::ErrorKind::kMalformedRequest, std::move(detail)};
  error.code = "InvalidArgument";
  return tl::unexpected<base::Error>(std::move(error));
}

unsigned hex_value(char c) {
  return static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

std::optional<std::string> decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (text.size() - i < 3 || !base::is_hex_digit(text[i + 1]) ||
        !base::is_hex_digit(text[i + 2])) {
      return std::nullopt;
    }
    out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
    i += 2;
  }
  return out;
}

base::Result<Parameter> read_parameter(std::string_view piece) {
  const std::size_t equals = piece.find('=');
  const std::string_view sent = piece.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : piece.substr(equals + 1);
  auto name = decode(sent);
  auto decoded = decode(value);
  if (!name || !decoded) {
    return refuse(fmt::format(
        "the query parameter {} has a \"%\" without two hexadecimal digits; write it as %25",
        in_quotes(sent)));
  }
  // Some servers end a parameter there: what we take for a value would be a sub-resource to them.
  if (piece.find(';') != std::string_view::npos && *name != "X-Amz-SignedHeaders") {
    return refuse(fmt::format(
        "the query parameter {} has a \";\", which some servers take for \"&\"; write it as %3B",
        in_quotes(sent)));
  }
  const QueryUse use = use_of(*name);
  return Parameter{sent, std::move(*name), std::move(*decoded), use};
}

bool same_name(const Parameter& one, const Parameter& other) {
  return one.name == other.name ||
         (one.use != QueryUse::kOperation && base::equal_names(one.name, other.name));
}

}  // namespace

QueryUse use_of(std::string_view name) {
  if (std::ranges::find(kSignature, name) != kSignature.end() || contains_field(kEndHere, name)) {
    return QueryUse::kOurs;
  }
  const bool metadata = base::equal_names(name.substr(0, kMetadata.size()), kMetadata) &&
                        name.size() > kMetadata.size() && base::token_length(name) == name.size() &&
                        !base::same_for_loose_servers(name.substr(0, kStamps.size()), kStamps);
  return metadata || contains_field(kMovedFields, name) ? QueryUse::kField : QueryUse::kOperation;
}

base::Result<std::vector<Parameter>> read_query(std::string_view query) {
  std::vector<Parameter> parameters;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view piece = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (piece.empty()) {
      continue;
    }
    if (parameters.size() == kMaxParameters) {
      return refuse(fmt::format(
          "the query has more than {} parameters; no S3 request needs so many", kMaxParameters));
    }
    auto parameter = read_parameter(piece);
    if (!parameter) {
      return base::pass_on(parameter.error());
    }
    for (const Parameter& other : parameters) {
      if (same_name(other, *parameter)) {
        return refuse(fmt::format("the query parameter {} is there twice; send it once",
                                  in_quotes(parameter->sent)));
      }
    }
    parameters.push_back(std::move(*parameter));
  }
  return parameters;
}

std::string in_quotes(std::string_view sent) {
  return fmt::format("\"{}{}\"", sent.substr(0, kMaxQuotedBytes),
                     sent.size() > kMaxQuotedBytes ? "…" : "");
}

}  // namespace fenceline::backends::s3
