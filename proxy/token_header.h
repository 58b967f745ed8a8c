#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/http.h"
#include "base/token.h"

namespace fenceline::proxy {

/// The field that binds a token to its holder (design, 5).
inline constexpr std::string_view kHolderField = "Fencing-Holder";

/// Takes the fencing token out of a head.
/// Does: looks at the header section only; trailers never get into a `RequestHead`. `names` are the
/// accepted field names (config `token.headers`), compared without case.
/// Success: the token, or nothing if there is no such field.
/// Failure: `kMalformedToken`: more than one field over all accepted names together, even if they
/// agree, or a value that `base::Token::parse` refuses. Pure.
base::Result<std::optional<base::Token>> token_from(const base::RequestHead& head,
                                                    std::span<const std::string> names);

/// Takes the holder out of a head.
/// Success: the value of `Fencing-Holder`, 1 … 256 bytes of visible ASCII; empty if there is none.
/// Failure: `kMalformedRequest`: the field is there twice, empty, too long, or has another byte.
/// Pure.
base::Result<std::string> holder_from(const base::RequestHead& head);

}  // namespace fenceline::proxy
