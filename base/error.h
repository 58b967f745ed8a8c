#pragma once

// Errors are values. One kind says what happened; a table (`error.cc`) gives each kind its source,
// its retry advice and its stable name; `proxy/problem` alone maps kinds to HTTP.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace fenceline::base {

/// What went wrong. Each kind is one row in `error.cc` and one row in `proxy/problem.cc`.
enum class ErrorKind : std::uint8_t {
  // The client's request.
  kMalformedRequest,     ///< Syntax of head, target, header or body framing.
  kMalformedToken,       ///< The fencing token is not exactly one canonical decimal.
  kTokenRequired,        ///< A write without a token on a fenced route.
  kStaleToken,           ///< Token below the mark ("fenced").
  kHolderConflict,       ///< Token equals the mark, but another holder is bound to it.
  kTokenTooFarAhead,     ///< Token above the mark by more than the route's `max_jump`.
  kPreconditionFailed,   ///< `If-Match`, `If-None-Match` or `If-Unmodified-Since` (RFC 9110, 13).
  kNotFound,             ///< No route, or no such resource.
  kMethodNotAllowed,     ///< The route does not take this method.
  kNameConflict,         ///< The name is a directory, or a part of its path is a file.
  kConstraintFailed,     ///< A rule of the store's schema refuses the data (SQL constraints).
  kForbiddenName,        ///< The name reaches a symlink or another file system.
  kRangeNotSatisfiable,  ///< `Range` lies outside the content (RFC 9110, 14.4).
  kLengthRequired,       ///< No usable body length.
  kBodyTooLarge,         ///< Body above the route's limit.
  kTargetTooLong,        ///< Request target or resource name too long.
  kHeadTooLarge,         ///< Request head above 32 KiB, or too many fields.
  kExpectationFailed,    ///< `Expect` other than `100-continue`.
  kMethodUnknown,        ///< A method or transfer coding that nobody here implements.
  kVersionNotSupported,  ///< Not HTTP/1.0 or HTTP/1.1.
  kRequestTimeout,       ///< Head or body did not arrive in time.
  kClientGone,           ///< The connection broke; nobody reads the answer.
  kUnauthorized,         ///< Authentication is missing or wrong.
  kForbidden,            ///< Authenticated, or tried to, and not allowed.
  kMarkConflict,         ///< A reset that does not fit the mark as it is.
  kLeaseHeld,            ///< Somebody holds the lease, or a lock-delay or a queue is before it.
  kLeaseEnded,           ///< The lease has expired, was released or revoked, or never was.
  kIdempotencyRequired,  ///< A write without an idempotency key where the route asks for one.
  kIdempotencyReused,    ///< The idempotency key came with another request before.
  kIdempotencyRunning,   ///< The request with this idempotency key has not ended yet.
  // Us.
  kFenceBusy,            ///< A reset while requests are inside, in doubt or raising the mark.
  kDraining,             ///< Older commits have not left, or are unsettled.
  kLedgerUnavailable,    ///< The ledger cannot be read or written: the fence is unsure.
  kInsufficientStorage,  ///< Disk full; the old content is intact.
  kStorageFailed,        ///< An I/O error of the store; the route may be out of service.
  kOverloaded,           ///< A limit on connections, staged bytes or keys is reached.
  kShuttingDown,         ///< The server is stopping.
  kInternal,             ///< A bug; details are in the log, never in the answer.
  // Somebody else's server.
  kUpstreamFailed,
  kUpstreamTimeout,
};

/// Who caused the error.
enum class Source : std::uint8_t { kClient, kUpstream, kSelf };

/// Whether the same request may be sent again.
enum class Retry : std::uint8_t {
  kNever,     ///< The same request will be refused again: change it first.
  kLater,     ///< The same request may succeed after a while (`Retry-After`).
  kNewToken,  ///< Only with a newer token: take the lease again.
};

/// Whether the write took effect. "Unknown" is never reported as "no" (design, 3).
enum class Applied : std::uint8_t { kNo, kYes, kUnknown };

/// One error on its way from where it happened to the answer and the log.
struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  /// A sentence for the caller: the thing, the reason, the fix. Must hold no secret.
  std::string detail;
  Applied applied = Applied::kNo;
  /// Response fields that belong to this error, such as `Content-Range` on 416.
  std::vector<std::pair<std::string, std::string>> fields = {};
  /// Only with `kStaleToken` from a store that keeps marks itself: the mark it has, so that the
  /// gate learns it. 0: none.
  std::int64_t store_mark = 0;
  std::uint32_t retry_after_s = 0;  ///< Where more is known than "later"; 0: it is not.
  /// What the protocol of the route calls this error (an S3 code), where the kind alone says too
  /// little. A literal; empty: the kind says it.
  std::string_view code = {};
};

template <typename T>
using Result = tl::expected<T, Error>;

/// Makes the error side of a `Result`: `return fail(ErrorKind::kNotFound, "…");`
tl::unexpected<Error> fail(ErrorKind kind, std::string detail, Applied applied = Applied::kNo);

/// Hands an error on as the error side of another `Result`: `return pass_on(outcome.error());`
inline tl::unexpected<Error> pass_on(Error& error) {
  return tl::unexpected<Error>(std::move(error));
}

/// The stable name of a kind, such as `stale-token`: problem type, metric label and log field.
std::string_view name_of(ErrorKind kind);

/// Who caused errors of this kind.
Source source_of(ErrorKind kind);

/// What the caller may do after an error of this kind.
Retry retry_of(ErrorKind kind);

/// `no`, `yes` or `unknown`, as in the problem document.
std::string_view to_string(Applied applied);

/// The error for a failed system call. ENOSPC, EDQUOT and EFBIG become `kInsufficientStorage`,
/// everything else `kStorageFailed`. `what` names the call and the thing: "write staged body".
Error error_from_errno(int errno_value, std::string_view what);

}  // namespace fenceline::base
