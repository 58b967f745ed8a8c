#include "proxy/s3_error.h"

#include <array>
#include <cstddef>
#include <string>

#include "base/xml_text.h"

namespace fenceline::proxy {
namespace {

using base::ErrorKind;
using enum base::ErrorKind;

struct Row {
  ErrorKind kind;
  std::string_view code;
};

constexpr std::array kRows = {
    Row{kMalformedRequest, "InvalidRequest"},
    Row{kMalformedToken, "InvalidArgument"},
    Row{kTokenRequired, "MissingSecurityHeader"},
    Row{kStaleToken, "PreconditionFailed"},
    Row{kHolderConflict, "PreconditionFailed"},
    Row{kTokenTooFarAhead, "InvalidArgument"},
    Row{kPreconditionFailed, "PreconditionFailed"},
    Row{kNotFound, "NoSuchKey"},
    Row{kMethodNotAllowed, "MethodNotAllowed"},
    Row{kNameConflict, "InvalidRequest"},
    Row{kConstraintFailed, "InvalidRequest"},
    Row{kForbiddenName, "AccessDenied"},
    Row{kRangeNotSatisfiable, "InvalidRange"},
    Row{kLengthRequired, "MissingContentLength"},
    Row{kBodyTooLarge, "EntityTooLarge"},
    Row{kTargetTooLong, "KeyTooLongError"},
    Row{kHeadTooLarge, "RequestHeaderSectionTooLarge"},
    Row{kExpectationFailed, "InvalidRequest"},
    Row{kMethodUnknown, "NotImplemented"},
    Row{kVersionNotSupported, "NotImplemented"},
    Row{kRequestTimeout, "RequestTimeout"},
    Row{kClientGone, "RequestTimeout"},
    Row{kUnauthorized, "AccessDenied"},
    Row{kForbidden, "AccessDenied"},
    Row{kMarkConflict, "InvalidRequest"},
    Row{kLeaseHeld, "InvalidRequest"},
    Row{kLeaseEnded, "InvalidRequest"},
    Row{kIdempotencyRequired, "InvalidRequest"},
    Row{kIdempotencyReused, "InvalidRequest"},
    Row{kIdempotencyRunning, "OperationAborted"},
    Row{kFenceBusy, "OperationAborted"},
    Row{kDraining, "ServiceUnavailable"},
    Row{kLedgerUnavailable, "ServiceUnavailable"},
    Row{kInsufficientStorage, "ServiceUnavailable"},
    Row{kStorageFailed, "InternalError"},
    Row{kOverloaded, "SlowDown"},
    Row{kShuttingDown, "ServiceUnavailable"},
    Row{kInternal, "InternalError"},
    Row{kUpstreamFailed, "InternalError"},
    Row{kUpstreamTimeout, "InternalError"},
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

constexpr int kForbiddenStatus = 403;

std::string document(const base::Error& error, std::string_view code, const ProblemFacts& facts,
                     std::string_view resource) {
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>";
  base::append_xml_element(xml, "Code", code);
  base::append_xml_element(xml, "Message", detail_of(error));
  base::append_xml_element(xml, "Resource", resource);
  if (!facts.request_id.empty()) {
    base::append_xml_element(xml, "RequestId", facts.request_id);
  }
  if (facts.key) {
    base::append_xml_element(xml, "FencingKey", *facts.key);
  }
  if (facts.presented) {
    base::append_xml_element(xml, "FencingPresented", facts.presented->text());
  }
  if (facts.highest) {
    base::append_xml_element(xml, "FencingHighest", facts.highest->text());
  }
  base::append_xml_element(xml, "FencingApplied", to_string(error.applied));
  xml += "</Error>\n";
  return xml;
}

}  // namespace

S3ErrorKind s3_error_kind(ErrorKind kind) {
  return {.status = kind == kUnauthorized ? kForbiddenStatus : problem_kind(kind).status,
          .code = kRows.at(static_cast<std::size_t>(kind)).code};
}

base::Reply s3_error_reply(const base::Error& error, const ProblemFacts& facts,
                           std::string_view resource, bool to_head) {
  const S3ErrorKind kind = s3_error_kind(error.kind);
  base::Reply reply;
  reply.status = kind.status;
  reply.add("Content-Type", "application/xml");
  if (!facts.request_id.empty()) {
    reply.add("x-amz-request-id", facts.request_id);
  }
  add_error_fields(reply, error);
  if (!to_head) {
    reply.body = document(error, error.code.empty() ? kind.code : error.code, facts, resource);
  }
  return reply;
}

}  // namespace fenceline::proxy
