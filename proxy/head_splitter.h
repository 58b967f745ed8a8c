#pragma once

#include <string_view>

#include "base/error.h"
#include "base/http.h"

namespace fenceline::proxy {

/// Cuts a head that `HeadScanner` has passed into its parts (RFC 9112, 3 and 5).
///
/// Does: fills method, target, path, query, version and fields of `head`; views into `bytes`, which
/// begin with the request line and end with the empty line. Field values come without the blanks
/// around them. Beast reads the same heads in the tests, and must agree on every one.
/// Failure: `kMalformedRequest`: a line that is not `name: value` with a token for a name. Pure but
/// for `head`; allocates nothing once `head.fields` is large enough.
base::Result<void> split_head(std::string_view bytes, base::RequestHead& head);

}  // namespace fenceline::proxy
