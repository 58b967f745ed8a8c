#include "proxy/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/json_text.h"

namespace fenceline::proxy {
namespace {

using base::ErrorKind;
using enum base::ErrorKind;

struct Row {
  ErrorKind kind;
  int status;
  std::string_view title;
};

constexpr std::array kRows = {
    Row{kMalformedRequest, 400, "The request is malformed"},
    Row{kMalformedToken, 400, "The fencing token is malformed"},
    Row{kTokenRequired, 428, "A fencing token is required"},
    Row{kStaleToken, 412, "The fencing token is stale"},
    Row{kHolderConflict, 409, "The fencing token belongs to another holder"},
    Row{kTokenTooFarAhead, 409, "The fencing token is too far ahead"},
    Row{kPreconditionFailed, 412, "A precondition failed"},
    Row{kNotFound, 404, "Not found"},
    Row{kMethodNotAllowed, 405, "The method is not allowed here"},
    Row{kNameConflict, 409, "The name conflicts with an existing one"},
    Row{kConstraintFailed, 409, "A constraint of the database failed"},
    Row{kForbiddenName, 403, "The name is forbidden"},
    Row{kRangeNotSatisfiable, 416, "The range cannot be satisfied"},
    Row{kLengthRequired, 411, "A body length is required"},
    Row{kBodyTooLarge, 413, "The body is too large"},
    Row{kTargetTooLong, 414, "The request target is too long"},
    Row{kHeadTooLarge, 431, "The request head is too large"},
    Row{kExpectationFailed, 417, "The expectation cannot be met"},
    Row{kMethodUnknown, 501, "Not implemented"},
    Row{kVersionNotSupported, 505, "The HTTP version is not supported"},
    Row{kRequestTimeout, 408, "The request took too long"},
    Row{kClientGone, 499, "The client closed the connection"},
    Row{kUnauthorized, 401, "Authentication is required"},
    Row{kForbidden, 403, "Not allowed"},
    Row{kMarkConflict, 409, "The mark is not what the reset takes it for"},
    Row{kLeaseHeld, 409, "The lease is held"},
    Row{kLeaseEnded, 410, "The lease has ended"},
    Row{kIdempotencyRequired, 400, "An idempotency key is required"},
    Row{kIdempotencyReused, 422, "The idempotency key was used for another request"},
    Row{kIdempotencyRunning, 409, "The request with this idempotency key still runs"},
    Row{kFenceBusy, 409, "The fence is in use"},
    Row{kDraining, 503, "Older writes have not settled yet"},
    Row{kLedgerUnavailable, 503, "The ledger is unavailable"},
    Row{kInsufficientStorage, 507, "The storage is full"},
    Row{kStorageFailed, 500, "The storage failed"},
    Row{kOverloaded, 503, "The server is overloaded"},
    Row{kShuttingDown, 503, "The server is shutting down"},
    Row{kInternal, 500, "Internal error"},
    Row{kUpstreamFailed, 502, "The upstream failed"},
    Row{kUpstreamTimeout, 504, "The upstream did not answer in time"},
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

constexpr std::string_view kInternalDetail =
    "The server failed on this request; the reason is in its log. Report it with the time of the "
    "request.";

constexpr std::uint32_t kDefaultRetryAfterS = 1;

void append_member(std::string& json, std::string_view name, std::string_view value) {
  json += ',';
  base::append_json_string(json, name);
  json += ':';
  base::append_json_string(json, value);
}

std::string problem_document(const base::Error& error, const ProblemFacts& facts) {
  const ProblemKind kind = problem_kind(error.kind);
  std::string json = fmt::format(R"({{"type":"urn:fenceline:problem:{}")", name_of(error.kind));
  append_member(json, "title", kind.title);
  json += fmt::format(R"(,"status":{})", kind.status);
  append_member(json, "detail", detail_of(error));
  if (facts.key) {
    append_member(json, "key", *facts.key);
  }
  if (facts.presented) {
    append_member(json, "presented", facts.presented->text());
  }
  if (facts.highest) {
    append_member(json, "highest", facts.highest->text());
  }
  append_member(json, "applied", to_string(error.applied));
  if (!facts.request_id.empty()) {
    append_member(json, "instance", fmt::format("urn:fenceline:request:{}", facts.request_id));
  }
  json += "}\n";
  return json;
}

}  // namespace

ProblemKind problem_kind(ErrorKind kind) {
  const Row& row = kRows.at(static_cast<std::size_t>(kind));
  return ProblemKind{.status = row.status, .title = row.title};
}

std::string_view detail_of(const base::Error& error) {
  if (error.kind == kInternal) {
    return kInternalDetail;
  }
  return error.detail.empty() ? problem_kind(error.kind).title : std::string_view(error.detail);
}

void add_error_fields(base::Reply& reply, const base::Error& error) {
  if (reply.status == 503 || retry_of(error.kind) == base::Retry::kLater) {
    reply.add("Retry-After", fmt::format("{}", std::max(error.retry_after_s, kDefaultRetryAfterS)));
  }
  for (const auto& [name, value] : error.fields) {
    reply.fields.add_named(name, value);
  }
}

base::Reply problem_reply(const base::Error& error, const ProblemFacts& facts) {
  base::Reply reply;
  reply.status = problem_kind(error.kind).status;
  reply.add("Content-Type", "application/problem+json");
  add_error_fields(reply, error);
  reply.body = problem_document(error, facts);
  return reply;
}

}  // namespace fenceline::proxy
