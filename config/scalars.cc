#include "config/scalars.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace fenceline::config {
namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMinBearerBytes = 16;
constexpr std::size_t kMaxBearerBytes = 4096;
constexpr std::size_t kMaxUserBytes = 256;
constexpr std::size_t kMaxPasswordBytes = 1024;
constexpr std::string_view kOtherBearerCharacters = "-._~+/=";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_token_character(char c) {
  static constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return is_letter(c) || is_digit(c) || kOthers.find(c) != std::string_view::npos;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// RFC 6750, 2.1, at least one byte.
bool is_bearer_token(std::string_view text) {
  return !text.empty() && text.size() <= kMaxBearerBytes && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || kOtherBearerCharacters.find(c) != std::string_view::npos;
  });
}

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
  const bool good = std::ranges::all_of(text, is_token_character);
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

Parsed<std::string> parse_statement_name(std::string_view text) {
  const bool good = std::ranges::all_of(
      text, [](char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_'; });
  if (!good || text.empty() || text.size() > kMaxNameBytes) {
    return tl::unexpected(fmt::format(
        "\"{}\" is no name of a statement; use 1 to {} lower-case letters, digits, \"-\" and "
        "\"_\"",
        text, kMaxNameBytes));
  }
  return std::string(text);
}

Parsed<std::string> parse_column(std::string_view text) {
  const bool good =
      std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
  if (!good || text.empty() || is_digit(text.front()) || text.size() > kMaxNameBytes) {
    return tl::unexpected(
        fmt::format("\"{}\" is no name of a table or column; use a letter or \"_\", then letters, "
                    "digits and \"_\", at most {}",
                    text, kMaxNameBytes));
  }
  return std::string(text);
}

Parsed<std::string> parse_table(std::string_view text) {
  static constexpr std::string_view kReserved = "sqlite_";
  auto name = parse_column(text);
  if (name && std::ranges::equal(text.substr(0, kReserved.size()), kReserved, {}, lower)) {
    return tl::unexpected(
        fmt::format("\"{}\": SQLite keeps the names with \"sqlite_\" for itself", text));
  }
  return name;
}

Parsed<std::string> parse_upstream_method(std::string_view text) {
  static constexpr std::array<std::string_view, 2> kNotForResources{"CONNECT", "TRACE"};
  static constexpr std::array<std::string_view, 5> kTwoResources{"COPY", "MOVE", "BIND", "UNBIND",
                                                                 "REBIND"};
  const bool good = std::ranges::all_of(
      text, [](char c) { return is_token_character(c) && !(c >= 'a' && c <= 'z'); });
  if (!good || text.empty() || !is_letter(text.front()) || text.size() > kMaxNameBytes) {
    return tl::unexpected(fmt::format(
        "\"{}\" is no method (RFC 9110, 9.1); methods begin with a letter and are written in upper "
        "case, as in GET",
        text));
  }
  if (std::ranges::find(kNotForResources, text) != kNotForResources.end()) {
    return tl::unexpected(fmt::format("{} is never let through to an upstream", text));
  }
  if (std::ranges::find(kTwoResources, text) != kTwoResources.end()) {
    return tl::unexpected(fmt::format(
        "{} changes two resources and a fence covers one key, so it is never let through", text));
  }
  return std::string(text);
}

Parsed<std::string> parse_reading_method(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kWriting{"PUT",       "DELETE", "PATCH", "MKCOL",
                                                            "PROPPATCH", "LOCK",   "UNLOCK"};
  if (std::ranges::find(kWriting, text) != kWriting.end()) {
    return tl::unexpected(fmt::format("{} writes; as a read it would pass without a token", text));
  }
  return parse_upstream_method(text);
}

Parsed<std::string> parse_database(std::string_view text) {
  if (text.starts_with(':') || text.starts_with("file:")) {
    return tl::unexpected(fmt::format("\"{}\" is no file; write a path, as in var/jobs.db", text));
  }
  return parse_path(text);
}

Parsed<std::string> parse_path(std::string_view text) {
  if (text.empty()) {
    return tl::unexpected(std::string("the path is empty"));
  }
  return std::string(text);
}

Parsed<std::string> parse_service_path(std::string_view text) {
  constexpr std::size_t kMaxBytes = 255;
  constexpr std::string_view kOthers = "-._~";
  bool good = text.starts_with('/') && text.size() >= 2 && text.size() <= kMaxBytes;
  char before = 0;
  for (const char c : text) {
    const bool begins = before == '/' || before == 0;
    const bool plain = is_letter(c) || is_digit(c) || kOthers.find(c) != std::string_view::npos;
    good = good && (c == '/' ? before != '/' : plain && !(begins && c == '.'));
    before = c;
  }
  if (!good || before == '/') {
    return tl::unexpected(
        fmt::format("\"{}\" is no path of a service; write segments of letters, digits and "
                    "\"{}\", each after a slash, as in /leases",
                    text, kOthers));
  }
  return std::string(text);
}

Parsed<std::string> parse_bearer_token(std::string_view text) {
  if (!is_bearer_token(text) || text.size() < kMinBearerBytes) {
    return tl::unexpected(fmt::format(
        "a bearer token is {} to {} letters, digits and \"{}\" (this one has {} bytes); "
        "`openssl rand -hex 32` makes one",
        kMinBearerBytes, kMaxBearerBytes, kOtherBearerCharacters, text.size()));
  }
  return std::string(text);
}

Parsed<std::string> parse_upstream_token(std::string_view text) {
  if (!is_bearer_token(text)) {
    return tl::unexpected(
        fmt::format("a bearer token is 1 to {} letters, digits and \"{}\" (this "
                    "one has {} bytes)",
                    kMaxBearerBytes, kOtherBearerCharacters, text.size()));
  }
  return std::string(text);
}

Parsed<std::string> parse_user(std::string_view text) {
  if (text.empty() || text.size() > kMaxUserBytes || text.find(':') != std::string_view::npos) {
    return tl::unexpected(fmt::format(
        "the name of a user is 1 to {} bytes without a colon, which would end it", kMaxUserBytes));
  }
  return std::string(text);
}

Parsed<std::string> parse_password(std::string_view text) {
  if (text.empty() || text.size() > kMaxPasswordBytes) {
    return tl::unexpected(fmt::format("a password is 1 to {} bytes (this one has {})",
                                      kMaxPasswordBytes, text.size()));
  }
  return std::string(text);
}

}  // namespace fenceline::config
