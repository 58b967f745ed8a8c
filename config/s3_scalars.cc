// Those scalars of scalars.h that only S3 routes have.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "config/scalars.h"
#include "config/upstream.h"

namespace fenceline::config {
namespace {

constexpr std::size_t kMinBucketBytes = 3;
constexpr std::size_t kMaxBucketBytes = 63;
constexpr std::size_t kMaxRegionBytes = 64;
constexpr std::size_t kMinAccessKeyBytes = 3;
constexpr std::size_t kMaxAccessKeyBytes = 128;
constexpr std::size_t kMaxSecretBytes = 4096;

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_letter_or_digit(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }
bool is_visible(char c) { return c > ' ' && c <= '~'; }

}  // namespace

Parsed<std::string> parse_bucket(std::string_view text) {
  const bool good = text.size() >= kMinBucketBytes && text.size() <= kMaxBucketBytes &&
                    is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
                    std::ranges::all_of(
                        text, [](char c) { return is_lower_or_digit(c) || c == '-' || c == '.'; });
  if (!good) {
    return tl::unexpected(fmt::format(
        "\"{}\" is no name of a bucket; use {} to {} lower-case letters, digits, \"-\" and \".\", "
        "with a letter or digit at both ends",
        text, kMinBucketBytes, kMaxBucketBytes));
  }
  return std::string(text);
}

Parsed<std::string> parse_bucket_host(std::string_view text) {
  auto host = parse_host_name(text);
  if (host && is_address(*host)) {
    return tl::unexpected(
        fmt::format("\"{}\" is an IP address, and no bucket can stand in front of one; write a "
                    "name, as in s3.example.com",
                    text));
  }
  return host;
}

Parsed<std::string> parse_region(std::string_view text) {
  const bool good = !text.empty() && text.size() <= kMaxRegionBytes &&
                    std::ranges::all_of(
                        text, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_'; });
  if (!good) {
    return tl::unexpected(fmt::format(
        "\"{}\" is no region; use 1 to {} letters, digits, \"-\" and \"_\", as in us-east-1", text,
        kMaxRegionBytes));
  }
  return std::string(text);
}

// Neither access key is quoted: somebody may have put the secret in its place.

Parsed<std::string> parse_access_key(std::string_view text) {
  const bool good = text.size() >= kMinAccessKeyBytes && text.size() <= kMaxAccessKeyBytes &&
                    std::ranges::all_of(text, [](char c) {
                      return is_letter_or_digit(c) || c == '_' || c == '.' || c == '-';
                    });
  if (!good) {
    return tl::unexpected(fmt::format(
        "is no access key; use {} to {} letters, digits, \"_\", \".\" and \"-\" (this one "
        "has {} bytes)",
        kMinAccessKeyBytes, kMaxAccessKeyBytes, text.size()));
  }
  return std::string(text);
}

Parsed<std::string> parse_upstream_access_key(std::string_view text) {
  const bool good =
      !text.empty() && text.size() <= kMaxAccessKeyBytes &&
      std::ranges::all_of(text, [](char c) { return is_visible(c) && c != '/' && c != ','; });
  if (!good) {
    return tl::unexpected(
        fmt::format("is no access key; use 1 to {} visible ASCII characters but \"/\" and \",\" "
                    "(this one has {} bytes)",
                    kMaxAccessKeyBytes, text.size()));
  }
  return std::string(text);
}

Parsed<std::string> parse_secret(std::string_view text) {
  if (text.empty() || text.size() > kMaxSecretBytes || !std::ranges::all_of(text, is_visible)) {
    return tl::unexpected(fmt::format(
        "is no secret key or session token; use 1 to {} visible ASCII characters (this one has {} "
        "bytes)",
        kMaxSecretBytes, text.size()));
  }
  return std::string(text);
}

Parsed<std::string> parse_profile(std::string_view text) {
  if (text.empty() || text.find_first_of("[]") != std::string_view::npos) {
    return tl::unexpected(
        fmt::format("\"{}\" is no name of a profile; write what stands between the brackets of the "
                    "credentials file",
                    text));
  }
  return std::string(text);
}

}  // namespace fenceline::config
