#pragma once

#include <string>

#include "proxy/exchange.h"

namespace fenceline::proxy {

/// What makes a write with an idempotency key another request, beside method, target, Content-Type
/// and body.
/// Does: on an S3 route, who calls (the access key), the bucket, and the fields that decide what
/// the object becomes: all `x-amz-…` but those that differ from try to try or speak of the body
/// only, `Content-Encoding` without `aws-chunked`, `Content-Disposition`, `Content-Language`,
/// `Cache-Control`, `Expires`, `If-Match` and `If-None-Match`. Elsewhere `Authorization`: who
/// calls. Gives lines of `name:value`, whose order does not depend on that of the fields. Pure.
std::string printed_fields(const Exchange& exchange);

}  // namespace fenceline::proxy
