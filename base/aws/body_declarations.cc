#include "base/aws/body_declarations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/base64.h"
#include "base/field_syntax.h"

namespace fenceline::base::aws {
namespace {

constexpr std::string_view kContentSha256 = "x-amz-content-sha256";
constexpr std::string_view kDecodedLength = "x-amz-decoded-content-length";
constexpr std::string_view kTrailer = "x-amz-trailer";
constexpr std::size_t kMd5Bytes = 16;

tl::unexpected<Error> refuse(std::string detail, std::string_view code = "InvalidRequest") {
  return tl::unexpected(
      Error{.kind = ErrorKind::kMalformedRequest, .detail = std::move(detail), .code = code});
}

/// Calls `take` with every element of a list with commas (RFC 9110, 5.6.1), until it gives false.
template <typename Take>
bool each_element(std::string_view list, const Take& take) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view element = trim_blanks(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (!element.empty() && !take(element)) {
      return false;
    }
  }
  return true;
}

bool is_coded_aws_chunked(const RequestHead& head) {
  return !each_element(head.joined("Content-Encoding").value_or(""),
                       [](std::string_view coding) { return !equal_names(coding, "aws-chunked"); });
}

Result<void> read_form(const RequestHead& head, Payload payload, BodyDeclarations& declared) {
  if (is_chunked(payload)) {
    declared.chunked.emplace(AwsChunkedForm{.is_signed = payload != Payload::kUnsignedTrailer,
                                            .has_trailer = payload != Payload::kSignedChunks});
  } else if (is_coded_aws_chunked(head)) {
    return refuse(
        "Content-Encoding has aws-chunked, but x-amz-content-sha256 is none of the STREAMING-… "
        "values that go with it.");
  }
  return {};
}

Result<void> read_trailer(const RequestHead& head, BodyDeclarations& declared) {
  const std::string announced = head.joined(kTrailer).value_or("");
  std::string_view unknown;
  std::size_t count = 0;
  const bool known = each_element(announced, [&](std::string_view name) {
    unknown = name;
    declared.trailer = checksum_of_field(name);
    ++count;
    return declared.trailer.has_value();
  });
  if (!known) {
    return refuse(fmt::format(
        "x-amz-trailer announces `{}`, which is no checksum that is known here.", unknown));
  }
  if (count == 0) {
    return {};
  }
  if (!declared.chunked || !declared.chunked->has_trailer) {
    return refuse(
        "x-amz-trailer announces a trailer, but x-amz-content-sha256 is none of the STREAMING-… "
        "values with one.");
  }
  if (count > 1) {
    return refuse("x-amz-trailer announces more than one checksum. Send one.");
  }
  declared.chunked->announced.emplace_back(field_of(*declared.trailer));
  return {};
}

Result<void> read_checksum(const RequestHead& head, BodyDeclarations& declared) {
  for (const Field& field : head.fields) {
    const auto kind = checksum_of_field(field.name);
    if (!kind) {
      continue;
    }
    if (declared.checksum || declared.trailer) {
      return refuse("There is more than one x-amz-checksum-…. Send one.");
    }
    if (!is_checksum_value(*kind, field.value)) {
      return refuse(
          fmt::format("The value of {} is no base64 of the right length.", field_of(*kind)));
    }
    declared.checksum.emplace(Checksum{.kind = *kind, .value = std::string(field.value)});
  }
  return {};
}

Result<void> read_md5(const RequestHead& head, BodyDeclarations& declared) {
  if (head.count("Content-MD5") == 0) {
    return {};
  }
  const auto value = head.only("Content-MD5");
  auto bytes = value ? decode_base64(*value) : std::nullopt;
  if (!bytes || bytes->size() != kMd5Bytes) {
    return refuse("Content-MD5 is not one base64 of 16 bytes.", "InvalidDigest");
  }
  declared.md5 = *std::move(bytes);
  return {};
}

Result<void> read_length(const RequestHead& head, std::optional<std::uint64_t> raw_bytes,
                         BodyDeclarations& declared) {
  if (!declared.chunked) {
    declared.content_bytes = raw_bytes;
  }
  if (head.count(kDecodedLength) == 0) {
    return {};
  }
  const std::string_view text = head.only(kDecodedLength).value_or("");
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size() ||
      bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return refuse("x-amz-decoded-content-length is not one decimal number of bytes.",
                  "InvalidArgument");
  }
  if (declared.content_bytes && declared.content_bytes != bytes) {
    return refuse(
        "x-amz-decoded-content-length differs from Content-Length, and the body is not "
        "aws-chunked.");
  }
  declared.content_bytes = bytes;
  return {};
}

Result<void> read_sha256(const RequestHead& head, const BodyOptions& options,
                         BodyDeclarations& declared) {
  if (declared.chunked && declared.chunked->is_signed && options.verified == nullptr) {
    return refuse(
        "The chunks of the body are signed, but the request is not: no key to check "
        "them with is known. Sign the request, or send UNSIGNED-PAYLOAD.");
  }
  if (options.payload == Payload::kHash) {
    declared.sha256_hex = options.verified != nullptr
                              ? options.verified->payload_hash
                              : std::string(head.only(kContentSha256).value_or(""));
    if (declared.sha256_hex.empty()) {
      return refuse("x-amz-content-sha256 is not there exactly once.");
    }
  }
  return {};
}

}  // namespace

Result<BodyDeclarations> read_declarations(const RequestHead& head,
                                           std::optional<std::uint64_t> raw_bytes,
                                           const BodyOptions& options) {
  BodyDeclarations declared;
  Result<void> read = read_form(head, options.payload, declared);
  if (read) {
    read = read_trailer(head, declared);
  }
  if (read && options.fields_are_of_body) {
    read = read_checksum(head, declared);
  }
  if (read) {
    read = read_md5(head, declared);
  }
  if (read) {
    read = read_length(head, raw_bytes, declared);
  }
  if (read) {
    read = read_sha256(head, options, declared);
  }
  if (!read) {
    return pass_on(read.error());
  }
  return declared;
}

}  // namespace fenceline::base::aws
