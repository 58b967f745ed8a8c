#pragma once

// The scalars of the configuration that are words, not quantities (those are in units.h). All pure.

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/nearest.h"
#include "config/parsed.h"

namespace fenceline::config {

/// The name of a route: 1 … 64 bytes of `a`–`z`, `0`–`9` and `-`, because it is a metric label, a
/// part of log lines and of fence keys.
Parsed<std::string> parse_route_name(std::string_view text);

/// A header field name (RFC 9110, 5.1) that can carry a token: none that HTTP itself needs and not
/// `Fencing-Holder`. Keeps the case.
Parsed<std::string> parse_token_header(std::string_view text);

/// The name of a statement: 1 … 64 bytes of `a`–`z`, `0`–`9`, `-` and `_`.
Parsed<std::string> parse_statement_name(std::string_view text);

/// The name of a column: a letter or `_`, then letters, digits and `_`, at most 64 bytes. It may be
/// a keyword of SQL, so it has to be quoted there.
Parsed<std::string> parse_column(std::string_view text);

/// The name of a table: as a column, and none that SQLite keeps for itself (`sqlite_…`).
Parsed<std::string> parse_table(std::string_view text);

/// A method that an upstream may get (RFC 9110, 9.1): a token that begins with a letter, without
/// lower-case letters, at most 64 bytes. Not `CONNECT` and `TRACE`, which are not for resources,
/// and not `COPY` and `MOVE`, which write two resources where the fence has one key.
Parsed<std::string> parse_upstream_method(std::string_view text);

/// Such a method that may be said to read: none that by its definition writes.
Parsed<std::string> parse_reading_method(std::string_view text);

/// A path of a database: as `parse_path`, and nothing that SQLite takes for something else than a
/// file (`:memory:`, `file:…`).
Parsed<std::string> parse_database(std::string_view text);

/// A path of the local file system: not empty.
Parsed<std::string> parse_path(std::string_view text);

/// The path of a service of ours: segments of letters, digits and `-._~`, none of which begins with
/// a dot, each after a slash; 2 … 255 bytes.
Parsed<std::string> parse_service_path(std::string_view text);

/// A bearer token (RFC 6750, 2.1) of 16 … 4096 bytes. The sentence on failure never quotes it.
Parsed<std::string> parse_bearer_token(std::string_view text);

/// The name of a bucket: 3 … 63 lower-case letters, digits, `-` and `.`, with a letter or digit at
/// both ends.
Parsed<std::string> parse_bucket(std::string_view text);

/// A host in front of which a bucket may stand: a name, no address. In lower case.
Parsed<std::string> parse_bucket_host(std::string_view text);

/// A region as it stands in a signature: 1 … 64 letters, digits, `-` and `_`.
Parsed<std::string> parse_region(std::string_view text);

/// An access key of one of our clients: 3 … 128 letters, digits, `_`, `.` and `-`.
Parsed<std::string> parse_access_key(std::string_view text);

/// An access key of ours at an upstream, whose rules we do not know: 1 … 128 visible ASCII
/// characters but those that end it in a signature (`/`, `,`).
Parsed<std::string> parse_upstream_access_key(std::string_view text);

/// A secret: 1 … 4096 visible ASCII characters. The sentence on failure never quotes it.
Parsed<std::string> parse_secret(std::string_view text);

/// The name of a profile in a credentials file: not empty, without brackets.
Parsed<std::string> parse_profile(std::string_view text);

/// A token for an upstream: as `parse_bearer_token`, but of 1 … 4096 bytes.
Parsed<std::string> parse_upstream_token(std::string_view text);

/// The name of a user at an upstream (RFC 7617, 2): 1 … 256 bytes without a colon.
Parsed<std::string> parse_user(std::string_view text);

/// A password there: 1 … 1024 bytes. The sentence on failure never quotes it.
Parsed<std::string> parse_password(std::string_view text);

/// One of a few words.
template <typename T>
Parsed<T> parse_choice(std::string_view text,
                       std::initializer_list<std::pair<std::string_view, T>> choices) {
  std::vector<std::string_view> words;
  for (const auto& [word, value] : choices) {
    if (word == text) {
      return value;
    }
    words.push_back(word);
  }
  const auto meant = nearest(text, words);
  return tl::unexpected(fmt::format("\"{}\" is not one of {}{}", text, fmt::join(words, ", "),
                                    meant ? fmt::format("; did you mean {}?", *meant) : ""));
}

}  // namespace fenceline::config
