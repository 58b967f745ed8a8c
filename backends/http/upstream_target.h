#pragma once

// Names of resources at the upstream. All of it is pure.

#include <optional>
#include <string>
#include <string_view>

#include "base/net/http_client.h"
#include "base/token.h"

namespace fenceline::backends::http {

/// What our own resources beside the data are called; no client may name one.
inline constexpr std::string_view kReservedPrefix = ".fenceline-";

/// `host` or `host:port`, as it goes into `Host`: IPv6 in brackets, no default port.
std::string authority_of(const base::net::HttpClientOptions& client);

/// `http://host:port`, always with the port: the identity of the upstream.
std::string origin_of(const base::net::HttpClientOptions& client);

/// The request target: base path, `/`, the name percent-encoded, a slash if a directory is meant,
/// and `?query` as it was sent. Every name has exactly one encoding, and a byte that some servers
/// read as more than itself (`;`, `+`) is always encoded.
std::string target_of(std::string_view base_path, std::string_view name, bool names_directory,
                      std::string_view query);

/// `target` without its query.
std::string_view path_of(std::string_view target);

/// The value of `Destination` for `target`: absolute, without its query. `authority`: the `Host`
/// that goes with it.
std::string destination_of(const base::net::HttpClientOptions& client, std::string_view authority,
                           std::string_view target);

/// A name beside `target`: `.fenceline-<unique>-<token>` in the same collection.
std::string temporary_beside(std::string_view target, std::string_view unique, base::Token token);

/// True if a segment of `name` begins with the reserved prefix, in any case of letters: some
/// servers do not tell them apart.
bool is_reserved_name(std::string_view name);

/// What an intent says about a write, to find it again after a restart.
struct IntentTarget {
  enum class Kind : std::uint8_t {
    kTemporary,  ///< `target` is a temporary resource that a MOVE takes away.
    kChange,     ///< `target` is changed by a request with If-Match.
    kCreation,   ///< `target` is created by a request with If-None-Match: *.
    kReturning,  ///< `target` is changed by a request with If-Match of `etag`, which can come back.
  };
  Kind kind = Kind::kTemporary;
  std::string origin;
  std::string target;
  std::string etag = {};  ///< Only of `kReturning`; visible ASCII.
};

/// As text for `WriteIntent::data`.
std::string encode_intent(const IntentTarget& intent);

/// The other way; nothing for what was not made by `encode_intent` (also for a plain write: "").
std::optional<IntentTarget> decode_intent(std::string_view data);

}  // namespace fenceline::backends::http
