#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/http.h"

namespace fenceline::proxy {

/// Whether a request carries the token `wanted` as `Authorization: Bearer` (RFC 6750, 2.1),
/// compared in constant time; any request does if it is empty. `whose` names the token: "the admin
/// token". Failure: `kUnauthorized` with `WWW-Authenticate`. Pure.
base::Result<void> check_bearer(const base::RequestHead& head, const std::string& wanted,
                                std::string_view whose);

}  // namespace fenceline::proxy
