#include "base/error.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace fenceline::base {
namespace {

struct Row {
  ErrorKind kind;
  std::string_view name;
  Source source;
  Retry retry;
};

using enum ErrorKind;

constexpr std::array kRows = {
    Row{kMalformedRequest, "malformed-request", Source::kClient, Retry::kNever},
    Row{kMalformedToken, "malformed-token", Source::kClient, Retry::kNever},
    Row{kTokenRequired, "token-required", Source::kClient, Retry::kNever},
    Row{kStaleToken, "stale-token", Source::kClient, Retry::kNewToken},
    Row{kHolderConflict, "holder-conflict", Source::kClient, Retry::kNewToken},
    Row{kTokenTooFarAhead, "token-too-far-ahead", Source::kClient, Retry::kNever},
    Row{kPreconditionFailed, "precondition-failed", Source::kClient, Retry::kNever},
    Row{kNotFound, "not-found", Source::kClient, Retry::kNever},
    Row{kMethodNotAllowed, "method-not-allowed", Source::kClient, Retry::kNever},
    Row{kNameConflict, "name-conflict", Source::kClient, Retry::kNever},
    Row{kConstraintFailed, "constraint-failed", Source::kClient, Retry::kNever},
    Row{kForbiddenName, "forbidden-name", Source::kClient, Retry::kNever},
    Row{kRangeNotSatisfiable, "range-not-satisfiable", Source::kClient, Retry::kNever},
    Row{kLengthRequired, "length-required", Source::kClient, Retry::kNever},
    Row{kBodyTooLarge, "body-too-large", Source::kClient, Retry::kNever},
    Row{kTargetTooLong, "target-too-long", Source::kClient, Retry::kNever},
    Row{kHeadTooLarge, "head-too-large", Source::kClient, Retry::kNever},
    Row{kExpectationFailed, "expectation-failed", Source::kClient, Retry::kNever},
    Row{kMethodUnknown, "not-implemented", Source::kClient, Retry::kNever},
    Row{kVersionNotSupported, "version-not-supported", Source::kClient, Retry::kNever},
    Row{kRequestTimeout, "request-timeout", Source::kClient, Retry::kLater},
    Row{kClientGone, "client-gone", Source::kClient, Retry::kLater},
    Row{kUnauthorized, "unauthorized", Source::kClient, Retry::kNever},
    Row{kForbidden, "forbidden", Source::kClient, Retry::kNever},
    Row{kMarkConflict, "mark-conflict", Source::kClient, Retry::kNever},
    Row{kLeaseHeld, "lease-held", Source::kClient, Retry::kLater},
    Row{kLeaseEnded, "lease-ended", Source::kClient, Retry::kNever},
    Row{kIdempotencyRequired, "idempotency-key-required", Source::kClient, Retry::kNever},
    Row{kIdempotencyReused, "idempotency-key-reused", Source::kClient, Retry::kNever},
    Row{kIdempotencyRunning, "idempotency-key-running", Source::kClient, Retry::kLater},
    Row{kFenceBusy, "fence-busy", Source::kSelf, Retry::kLater},
    Row{kDraining, "draining", Source::kSelf, Retry::kLater},
    Row{kLedgerUnavailable, "ledger-unavailable", Source::kSelf, Retry::kLater},
    Row{kInsufficientStorage, "insufficient-storage", Source::kSelf, Retry::kLater},
    Row{kStorageFailed, "storage-failed", Source::kSelf, Retry::kLater},
    Row{kOverloaded, "overloaded", Source::kSelf, Retry::kLater},
    Row{kShuttingDown, "shutting-down", Source::kSelf, Retry::kLater},
    Row{kInternal, "internal-error", Source::kSelf, Retry::kNever},
    Row{kUpstreamFailed, "upstream-failed", Source::kUpstream, Retry::kLater},
    Row{kUpstreamTimeout, "upstream-timeout", Source::kUpstream, Retry::kLater},
};

constexpr bool rows_follow_the_enum() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].kind) != i) {
      return false;
    }
  }
  return kRows.size() == static_cast<std::size_t>(kUpstreamTimeout) + 1;
}
static_assert(rows_follow_the_enum(), "every ErrorKind needs one row, in the enum's order");

const Row& row_of(ErrorKind kind) { return kRows.at(static_cast<std::size_t>(kind)); }

}  // namespace

tl::unexpected<Error> fail(ErrorKind kind, std::string detail, Applied applied) {
  return tl::unexpected<Error>(Error{kind, std::move(detail), applied, {}});
}

std::string_view name_of(ErrorKind kind) { return row_of(kind).name; }

Source source_of(ErrorKind kind) { return row_of(kind).source; }

Retry retry_of(ErrorKind kind) { return row_of(kind).retry; }

std::string_view to_string(Applied applied) {
  switch (applied) {
    case Applied::kNo:
      return "no";
    case Applied::kYes:
      return "yes";
    case Applied::kUnknown:
      break;
  }
  return "unknown";
}

Error error_from_errno(int errno_value, std::string_view what) {
  const bool full = errno_value == ENOSPC || errno_value == EDQUOT || errno_value == EFBIG;
  std::array<char, 128> text{};
  // The GNU variant may return a static string instead of filling the buffer.
  const char* reason = strerror_r(errno_value, text.data(), text.size());
  return Error{full ? kInsufficientStorage : kStorageFailed,
               fmt::format("{}: {}", what, reason),
               Applied::kNo,
               {}};
}

}  // namespace fenceline::base
