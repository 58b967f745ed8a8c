#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/http.h"
#include "base/token.h"

namespace fenceline::proxy {

/// What an answer says about one kind of error.
struct ProblemKind {
  int status = 500;
  std::string_view title;  ///< The same for every problem of this kind (RFC 9457, 3.1.3).
};

/// The one table from error kinds to HTTP (design, 5). Total: every kind has a row. Pure.
/// `kClientGone` maps to 499, which goes into logs and metrics and is never sent.
ProblemKind problem_kind(base::ErrorKind kind);

/// What an answer tells about an error: its detail, or the title where there is none. That of
/// `kInternal` is replaced by a fixed sentence, so that no bug leaks what it knows. Never empty.
std::string_view detail_of(const base::Error& error);

/// Adds what every answer to an error has, whatever its document looks like: `Retry-After` on a 503
/// and on every kind whose retry advice is `kLater`, and the fields that came with the error.
void add_error_fields(base::Reply& reply, const base::Error& error);

/// What was known when the error happened; what is left out is left out of the document.
struct ProblemFacts {
  std::optional<std::string> key;        ///< The fence key; any bytes.
  std::optional<base::Token> presented;  ///< The token of the request.
  std::optional<base::Token> highest;    ///< The mark of the key.
  std::string_view request_id;           ///< Finds the request in the log; may be empty.
};

/// The answer for an error: RFC 9457 `application/problem+json` with `type`
/// (`urn:fenceline:problem:<name_of(kind)>`), `title`, `status`, `detail`, `key`, `presented`,
/// `highest`, `applied`, `instance` (`urn:fenceline:request:<id>`, as in the log). Tokens are
/// strings, because JSON numbers end at 2^53. Does: takes the detail from `detail_of`, and adds
/// `add_error_fields` (`Allow`, `Content-Range`, `WWW-Authenticate`). Failure: none. Pure. The
/// caller adds what only it knows: `Fencing-Highest`.
base::Reply problem_reply(const base::Error& error, const ProblemFacts& facts = {});

}  // namespace fenceline::proxy
