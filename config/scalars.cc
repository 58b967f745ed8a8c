#include "config/scalars.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace fenceline::config {
namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMinBearerBytes = 16;
constexpr std::size_t kMaxBearerBytes = 4096;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

Parsed<std::string> parse_route_name(std::string_view text) {
  const bool good = std::ranges::all_of(
      text, [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-'; });
  if (!good || text.empty() || text.size() > kMaxNameBytes) {
    return tl::unexpected(
        fmt::format("\"{}\" is no route name; use 1 to {} lower-case letters, digits and \"-\"",
                    text, kMaxNameBytes));
  }
  return std::string(text);
}

Parsed<std::string> parse_token_header(std::string_view text) {
  static constexpr std::string_view kOtherTokenCharacters = "!#$%&'*+-.^_`|~";
  static constexpr std::array<std::string_view, 16> kTaken{"authorization",
                                                           "connection",
                                                           "content-length",
                                                           "content-range",
                                                           "content-type",
                                                           "cookie",
                                                           "date",
                                                           "expect",
                                                           "fencing-holder",
                                                           "host",
                                                           "keep-alive",
                                                           "range",
                                                           "te",
                                                           "trailer",
                                                           "transfer-encoding",
                                                           "upgrade"};
  const bool good = std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || kOtherTokenCharacters.find(c) != std::string_view::npos;
  });
  if (!good || text.empty() || text.size() > kMaxNameBytes) {
    return tl::unexpected(fmt::format("\"{}\" is no header field name (RFC 9110, 5.1)", text));
  }
  std::string lowered(text);
  std::ranges::transform(lowered, lowered.begin(), lower);
  if (std::ranges::find(kTaken, lowered) != kTaken.end() || lowered.starts_with("if-")) {
    return tl::unexpected(
        fmt::format("\"{}\" has a meaning of its own and cannot carry a token", text));
  }
  return std::string(text);
}

Parsed<std::string> parse_files_method(std::string_view text) {
  return parse_choice<std::string>(
      text, {{"GET", "GET"}, {"HEAD", "HEAD"}, {"PUT", "PUT"}, {"DELETE", "DELETE"}});
}

Parsed<std::string> parse_path(std::string_view text) {
  if (text.empty()) {
    return tl::unexpected(std::string("the path is empty"));
  }
  return std::string(text);
}

Parsed<std::string> parse_bearer_token(std::string_view text) {
  static constexpr std::string_view kOtherBearerCharacters = "-._~+/=";
  const bool good = std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || kOtherBearerCharacters.find(c) != std::string_view::npos;
  });
  if (!good || text.size() < kMinBearerBytes || text.size() > kMaxBearerBytes) {
    return tl::unexpected(fmt::format(
        "a bearer token is {} to {} letters, digits and \"{}\" (this one has {} bytes); "
        "`openssl rand -hex 32` makes one",
        kMinBearerBytes, kMaxBearerBytes, kOtherBearerCharacters, text.size()));
  }
  return std::string(text);
}

}  // namespace fenceline::config
