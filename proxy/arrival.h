#pragma once

#include <span>
#include <string>

#include "base/error.h"
#include "proxy/exchange.h"
#include "proxy/route.h"

namespace fenceline::proxy {

/// Everything that is decided before the fence, in the order of the design (section 5): path,
/// route (404), method (405 with `Allow`), on an S3 route the signature (403) and the operation
/// (501), body limit (413), token syntax (400), token presence (428). Pure; fills `exchange` in as
/// far as it gets, so that a refusal can say what is known.
///
/// On an observing route (`enforce: false`) a bad or missing token is a refusal like any other:
/// whether it counts is decided by who calls this.
base::Result<void> check_arrival(const RouteTable& routes,
                                 std::span<const std::string> token_fields, Exchange& exchange);

/// The idempotency key of a write on a route that looks at it: puts `once` in place, behind
/// whatever body is there already. Failure: `kIdempotencyRequired`; `kMalformedRequest` for a key
/// that is none, and on a request that names several keys.
base::Result<void> read_idempotency(Exchange& exchange);

/// True if `kind` is the fence's own refusal, which an observing route lets pass.
bool is_fence_refusal(base::ErrorKind kind);

}  // namespace fenceline::proxy
