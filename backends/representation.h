#pragma once

#include <string_view>

#include "base/error.h"
#include "base/http.h"

namespace fenceline::backends {

/// The `Content-Type` of a write, to be kept with its content.
/// Success: a view into the head; empty if there is none. Failure: `kMalformedRequest` if it is not
/// printable ASCII of at most 255 bytes, or is given twice. Pure.
base::Result<std::string_view> content_type_of(const base::RequestHead& head);

/// Refuses what a store that keeps whole, plain content would keep as something else than it is:
/// `Content-Range`, and `Content-Encoding` other than `identity`. Failure: `kMalformedRequest`.
base::Result<void> check_representation(const base::RequestHead& head);

}  // namespace fenceline::backends
