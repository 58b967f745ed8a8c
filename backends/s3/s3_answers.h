#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/http/answers.h"
#include "backends/http/send.h"
#include "base/async.h"
#include "base/error.h"
#include "base/http.h"

namespace fenceline::backends::s3 {

/// The client's answer out of the upstream's: a success is streamed; of a refusal the document is
/// read, and an empty `<Message>` in it is filled in, because some clients crash on it. The stamp
/// stays here.
base::Awaitable<base::Reply> client_reply(http::SharedUpstream upstream, http::Received received,
                                          bool to_head);

/// What the answer to a write means. `may_hide_error`: a 200 of this operation may have an error
/// for a body (CompleteMultipartUpload, CopyObject), so it is read to its end first. Success: a
/// definite answer. Failure: `kUpstreamFailed` or `kUpstreamTimeout` with `applied: unknown`.
base::Awaitable<base::Result<base::Reply>> write_outcome(http::SharedUpstream upstream,
                                                         http::Received received,
                                                         bool may_hide_error);

/// The content of the first `<Code>` of an error document; empty if it is none. Pure.
std::string_view error_code_of(std::string_view document);

/// `document` with a `<Message>` that says something. Pure.
std::string with_message(std::string document);

/// The status that S3 gives an error of this code; nothing if it settles nothing. Pure.
std::optional<int> status_of_hidden_error(std::string_view code);

}  // namespace fenceline::backends::s3
