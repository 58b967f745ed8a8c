#include "backends/http/revoke.h"

#include <memory>
#include <utility>

#include "backends/http/burned.h"
#include "backends/http/errors.h"
#include "backends/http/forwarded_fields.h"
#include "backends/http/look.h"
#include "backends/http/probe_calls.h"
#include "backends/http/seal.h"
#include "backends/http/upstream_target.h"

namespace fenceline::backends::http {
namespace {

using base::Awaitable;
using base::Result;

constexpr int kMultiStatus = 207;

Awaitable<Result<Revocation>> revoke_move(SharedUpstream upstream, base::TimerWheel& timers,
                                          std::string target, bool proven) {
  base::FieldLines fields = own_request_fields(upstream->options);
  auto deleted =
      co_await delete_temporary(std::move(upstream), timers, std::move(target), std::move(fields));
  if (!deleted) {
    co_return base::pass_on(deleted.error());
  }
  co_return proven ? Revocation::kRevoked : Revocation::kUnknown;
}

// Its tag never comes back: it is enough that it is gone.
Awaitable<Result<Revocation>> revoke_change(SharedUpstream upstream, base::TimerWheel& timers,
                                            std::string target) {
  auto sealed = co_await seal(std::move(upstream), timers, std::move(target));
  if (!sealed) {
    co_return base::pass_on(sealed.error());
  }
  co_return *sealed == Sealed::kSameTag ? Revocation::kUnknown : Revocation::kRevoked;
}

Awaitable<Result<Revocation>> look_whether_dormant(SharedUpstream upstream,
                                                   base::TimerWheel& timers, IntentTarget intent) {
  base::FieldLines fields = own_request_fields(upstream->options);
  auto now = co_await look(std::move(upstream), timers, intent.target, std::move(fields));
  if (!now) {
    co_return base::pass_on(now.error());
  }
  co_return dormancy_of(intent, *now);
}

}  // namespace

Awaitable<Result<bool>> delete_temporary(SharedUpstream upstream, base::TimerWheel& timers,
                                         std::string target, base::FieldLines fields) {
  Outgoing out{.method = "DELETE", .target = std::move(target), .fields = std::move(fields)};
  auto answered =
      co_await ask_upstream(std::move(upstream), timers, std::move(out), Resend::kIfUnanswered);
  if (!answered) {
    co_return base::pass_on(answered.error());
  }
  if (is_absent(answered->status)) {
    co_return false;
  }
  if (!answered->succeeded() || answered->status == kMultiStatus) {
    co_return tl::unexpected<base::Error>(
        step_failed("cannot delete the temporary resource of an older write", answered->status));
  }
  co_return true;
}

Awaitable<Result<Revocation>> revoke_write(SharedUpstream upstream, std::string data,
                                           base::TimerWheel& timers) {
  auto intent = decode_intent(data);
  // What was written to another upstream cannot be revoked at this one.
  if (!intent || intent->origin != upstream->origin) {
    return Awaitable<Result<Revocation>>::ready(Revocation::kUnknown);
  }
  const auto standing = upstream->watch->standing();
  if (standing == nullptr) {
    return Awaitable<Result<Revocation>>::ready(
        base::fail(base::ErrorKind::kUpstreamFailed,
                   "an older write cannot be revoked yet: the upstream is being probed"));
  }
  if (intent->kind == IntentTarget::Kind::kTemporary) {
    return revoke_move(std::move(upstream), timers, std::move(intent->target),
                       standing->move_proven);
  }
  if (intent->kind == IntentTarget::Kind::kChange) {
    return standing->conditions == Conditions::kNewTags
               ? revoke_change(std::move(upstream), timers, std::move(intent->target))
               : Awaitable<Result<Revocation>>::ready(Revocation::kUnknown);
  }
  return standing->conditions == Conditions::kUnproven
             ? Awaitable<Result<Revocation>>::ready(Revocation::kUnknown)
             : look_whether_dormant(std::move(upstream), timers, *std::move(intent));
}

}  // namespace fenceline::backends::http
