#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace fenceline::proxy {

/// A path decoded exactly once (design, 5, "one identity"): the fence key and the backend both use
/// these segments and nobody decodes again.
struct Target {
  std::vector<std::string> segments;  ///< Decoded; none is empty, `.` or `..`.
  bool trailing_slash = false;        ///< The path ended in `/` (also true for `/` itself).
};

/// Decodes an absolute path.
/// Success: its segments. Failure: `kMalformedRequest`, naming the byte or segment: not starting
/// with `/`, bad percent-encoding, `%2f`, `%5c`, backslash, NUL and other control bytes, an empty
/// or dot segment (also when percent-encoded), invalid UTF-8; `kTargetTooLong` for a segment above
/// 255 bytes. One trailing slash is no empty segment. Pure.
base::Result<Target> decode_path(std::string_view path);

/// Decodes every `%XX` of `text`, once. `what` names the part in the error. Success: the bytes, any
/// bytes. Failure: `kMalformedRequest` where two hexadecimal digits do not follow a `%`. Pure.
base::Result<std::string> percent_decode(std::string_view text, std::string_view what);

/// Decodes one query parameter (`name=value`, `&` between, percent-encoding, `+` is a plus).
/// Nothing if it is absent; `kMalformedRequest` if it is there twice or badly encoded. Pure.
base::Result<std::optional<std::string>> query_parameter(std::string_view query,
                                                         std::string_view name);

}  // namespace fenceline::proxy
