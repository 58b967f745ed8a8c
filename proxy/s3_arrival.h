#pragma once

#include <span>
#include <string>

#include "base/async.h"
#include "base/error.h"
#include "proxy/exchange.h"
#include "proxy/metered_body.h"
#include "proxy/route.h"

namespace fenceline::proxy {

/// Finds the route of a request where there are S3 routes: by a bucket in the host, then by the
/// path, decoded as for every other route; a path that only an S3 route can take is matched as it
/// was sent.
/// Success: `exchange.route` is set, and `place` where it is an S3 route. Failure: `kNotFound`,
/// `kMalformedRequest`, `kTargetTooLong`.
base::Result<void> find_route_beside_s3(const RouteTable& routes, Exchange& exchange,
                                        S3Place& place);

/// The rest of `check_arrival` on an S3 route: who calls, the operation, the length of the content,
/// the token and, but for DeleteObjects, the fence keys. Failure: as `S3Front::arrive`,
/// `kBodyTooLarge`, `kLengthRequired`, `kMalformedToken`, `kTokenRequired`.
base::Result<void> check_s3_arrival(std::span<const std::string> token_fields, S3Place place,
                                    Exchange& exchange);

/// Reads the document of a DeleteObjects request, which names its keys; it counts in `staged` until
/// the exchange ends.
/// Success: the keys and the document are in `exchange`. Failure: that of the body, of
/// `MeteredBody`, and of `parse_delete_document`.
base::Awaitable<base::Result<void>> read_keys_from_body(Exchange& exchange, StagedBytes& staged);

}  // namespace fenceline::proxy
