#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/backend.h"
#include "backends/http/send.h"
#include "backends/s3/s3_options.h"

namespace fenceline::backends::s3 {

/// Signs a request to the upstream with our own credentials, if there are any; once, right before
/// it is sent, because a signature is good for 15 minutes. `payload_hash`: of the body that is
/// sent.
void sign_upstream(const S3Options& options, http::Outgoing& out, std::string_view payload_hash);

/// The hash of the body as the client has declared it: it was checked against the body, or the
/// upstream will do that. Nothing if there is none.
std::optional<std::string_view> declared_hash(const ResourceRequest& request);

/// The hash of no bytes.
std::string_view hash_of_nothing();

/// Of a body that is all here: what the client has declared, or computed.
std::string hash_of_held(const ResourceRequest& request, std::string_view body);

}  // namespace fenceline::backends::s3
