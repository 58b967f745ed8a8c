#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "config/path_segments.h"

namespace fenceline::proxy {

/// A path decoded exactly once (design, 5, "one identity"): the fence key and the backend both use
/// these segments and nobody decodes again. Stays where it was filled.
struct Target {
  Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  config::PathSegments segments;  ///< Decoded; none is empty, `.` or `..`.
  std::string decoded;            ///< What they are views into, if the path was percent-encoded.
};

/// Decodes an absolute path into `target`, which was empty. `path` must outlive it.
/// Failure: `kMalformedRequest`, naming the byte or segment: not starting
/// with `/`, bad percent-encoding, `%2f`, `%5c`, backslash, NUL and other control bytes, an empty
/// or dot segment (also when percent-encoded), invalid UTF-8; `kTargetTooLong` for a segment above
/// 255 bytes. One trailing slash is no empty segment. Pure.
base::Result<void> decode_path(std::string_view path, Target& target);

/// Decodes every `%XX` of `text`, once. `what` names the part in the error. Success: the bytes, any
/// bytes. Failure: `kMalformedRequest` where two hexadecimal digits do not follow a `%`. Pure.
base::Result<std::string> percent_decode(std::string_view text, std::string_view what);

/// Decodes one query parameter (`name=value`, `&` between, percent-encoding, `+` is a plus).
/// Nothing if it is absent; `kMalformedRequest` if it is there twice or badly encoded. Pure.
base::Result<std::optional<std::string>> query_parameter(std::string_view query,
                                                         std::string_view name);

}  // namespace fenceline::proxy
