#pragma once

#include <cstddef>
#include <string>

#include "base/async.h"
#include "base/error.h"
#include "base/http.h"

namespace fenceline::backends::sqlite {

/// Reads `body` to its end, into memory.
/// Failure: those of `body`; `kBodyTooLarge` above `max_bytes`, as soon as that is known.
base::Awaitable<base::Result<std::string>> collect(base::BodySource& body, std::size_t max_bytes);

/// Reads `body` to its end and throws it away. Failure: those of `body`.
base::Awaitable<base::Result<void>> discard(base::BodySource& body);

}  // namespace fenceline::backends::sqlite
