#include "backends/http/errors.h"

#include <fmt/format.h>

#include <utility>

namespace fenceline::backends::http {
namespace {

using base::Applied;
using base::Error;
using base::ErrorKind;

constexpr int kGatewayTimeout = 504;

}  // namespace

Meaning meaning_of(int status, bool complete) {
  const int group = status / 100;
  if (complete) {
    return group >= 2 && group <= 4 ? Meaning::kDefinite : Meaning::kInDoubt;
  }
  return group == 4 || group == 5 ? Meaning::kDefinite : Meaning::kInDoubt;
}

Error in_doubt(int status, bool complete) {
  const ErrorKind kind =
      status == kGatewayTimeout ? ErrorKind::kUpstreamTimeout : ErrorKind::kUpstreamFailed;
  if (!complete) {
    return {
        .kind = kind,
        .detail = fmt::format("the upstream answered {} before the last byte of the request was "
                              "sent; it does not wait for whole requests, so nobody knows what "
                              "it did; look at the resource",
                              status),
        .applied = Applied::kUnknown};
  }
  return {.kind = kind,
          .detail = fmt::format("the upstream answered {} to the whole request, which does not say "
                                "whether the write took effect; read the resource to find out",
                                status),
          .applied = Applied::kUnknown};
}

Error step_failed(std::string_view step, int status) {
  return {.kind = ErrorKind::kUpstreamFailed,
          .detail = fmt::format("{}: the upstream answered {}; nothing was changed", step, status),
          .applied = Applied::kNo};
}

Error revoked_by_newer() {
  return {.kind = ErrorKind::kStaleToken,
          .detail =
              "a holder of a newer token has withdrawn this write before it took effect; take "
              "the lease again",
          .applied = Applied::kNo};
}

Error condition_failed(std::string_view name) {
  return {
      .kind = ErrorKind::kPreconditionFailed,
      .detail = fmt::format("\"{}\" is not in the state that the request asks for; read it again "
                            "and decide anew",
                            name),
      .applied = Applied::kNo};
}

Error lost_race(std::string_view name) {
  return {.kind = ErrorKind::kOverloaded,
          .detail = fmt::format("\"{}\" was changed by others while this write was on its way, and "
                                "it lost the race; send it again",
                                name),
          .applied = Applied::kNo};
}

Error without_effect(Error error) {
  error.applied = Applied::kNo;
  return error;
}

}  // namespace fenceline::backends::http
