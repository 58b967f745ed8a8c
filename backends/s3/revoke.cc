#include "backends/s3/revoke.h"

#include <algorithm>
#include <utility>

#include "backends/http/burned.h"
#include "backends/http/errors.h"
#include "backends/http/forwarded_fields.h"
#include "backends/http/probe_calls.h"
#include "backends/http/upstream_target.h"
#include "backends/s3/digests.h"
#include "backends/s3/intents.h"
#include "backends/s3/s3_backend.h"
#include "backends/s3/signing.h"
#include "base/field_syntax.h"

namespace fenceline::backends::s3 {
namespace {

using base::Awaitable;
using base::Result;
using http::IntentTarget;

constexpr std::string_view kEncryption = "x-amz-server-side-encryption";
// No server makes such a tag.
constexpr std::string_view kNewTag = "\"fenceline-new\"";

Awaitable<Result<Revocation>> end_upload(SharedS3 upstream, UploadOnRecord upload,
                                         base::TimerWheel& timers, bool final) {
  const Place place = place_of_target(upstream->options, upload.target);
  http::Outgoing out{.method = "DELETE",
                     .target = place.target(upload.query),
                     .fields = http::own_request_fields(upstream->options.http, place.host)};
  sign_upstream(upstream->options, out, hash_of_nothing());
  auto answered = co_await http::ask_upstream(upstream->http, timers, std::move(out),
                                              http::Resend::kIfUnanswered);
  if (!answered) {
    co_return base::pass_on(answered.error());
  }
  if (!answered->succeeded() && !http::is_absent(answered->status)) {
    co_return tl::unexpected<base::Error>(
        http::step_failed("cannot end the multipart upload of an older write", answered->status));
  }
  co_return final ? Revocation::kRevoked : Revocation::kUnknown;
}

Awaitable<Result<Revocation>> look_for_state(SharedS3 upstream, IntentTarget intent,
                                             base::TimerWheel& timers, bool tags_repeat) {
  auto place = place_of_target(upstream->options, intent.target);
  auto looked = co_await look_at_place(std::move(upstream), timers, std::move(place));
  if (!looked) {
    co_return base::pass_on(looked.error());
  }
  if (looked->status / 100 == 5) {
    co_return tl::unexpected<base::Error>(
        http::step_failed("cannot see the state of the object with HEAD", looked->status));
  }
  if (looked->status / 100 != 2 && !http::is_absent(looked->status)) {
    co_return Revocation::kUnknown;  // Not shown to us, perhaps for ever.
  }
  const http::Seen now{
      .exists = looked->state.exists, .etag = looked->state.etag, .last_modified_s = {}};
  const Revocation found = http::dormancy_of(intent, now);
  const bool never_again = !tags_repeat && intent.kind == IntentTarget::Kind::kReturning;
  co_return found == Revocation::kDormant&& never_again ? Revocation::kRevoked : found;
}

// The tag that the object will have after a PUT.
std::optional<std::string> tag_after_put(const ResourceRequest& request, const WritePlan& plan,
                                         std::optional<std::string_view> held) {
  if (!plan.tags_repeat) {
    return std::string(kNewTag);
  }
  const bool encrypted = std::ranges::any_of(request.head.fields, [](const base::Field& field) {
    return base::begins_with_name(field.name, kEncryption);
  });
  if (!plan.tags_are_md5 || !plan.puts || encrypted) {
    return std::nullopt;
  }
  if (held) {
    return "\"" + md5_hex(*held) + "\"";
  }
  const auto* body = request.s3->body;
  const auto md5 = body != nullptr ? body->md5() : std::nullopt;
  return md5 ? std::optional("\"" + hex_of(*md5) + "\"") : std::nullopt;
}

}  // namespace

Awaitable<Result<Revocation>> revoke_write(SharedS3 upstream, std::string data,
                                           base::TimerWheel& timers) {
  using Revoked = Awaitable<Result<Revocation>>;
  auto upload = decode_upload(data);
  auto intent = http::decode_intent(data);
  const std::string origin = upload ? upload->origin : (intent ? intent->origin : std::string());
  // What was written to another upstream cannot be revoked at this one.
  if (origin != upstream->http->origin) {
    return Revoked::ready(Revocation::kUnknown);
  }
  const auto standing = upstream->standing();
  if (standing == nullptr) {
    return Revoked::ready(
        base::fail(base::ErrorKind::kUpstreamFailed,
                   "an older write cannot be revoked yet: the upstream is being probed"));
  }
  if (upload) {
    return end_upload(std::move(upstream), *std::move(upload), timers, standing->abort_is_final);
  }
  const bool waits_for_state = intent->kind == IntentTarget::Kind::kCreation ||
                               intent->kind == IntentTarget::Kind::kReturning;
  if (!waits_for_state || !standing->put_proven) {
    return Revoked::ready(Revocation::kUnknown);
  }
  return look_for_state(std::move(upstream), *std::move(intent), timers, standing->tags_repeat);
}

Bearing bearing_on(const S3Upstream& upstream, const ResourceRequest& request,
                   const WritePlan& plan, const ObjectState& seen,
                   std::optional<std::string_view> held, std::string_view data) {
  const auto older = http::decode_intent(data);
  // Where there is nothing to delete nothing is sent.
  if (!older || plan.leaves_content || plan.sends_nothing(seen)) {
    return Bearing::kNone;
  }
  const std::string& origin = upstream.http->origin;
  const Bearing anything = http::bearing_of_any_write(*older, origin);
  if (request.s3->operation->keys != Keys::kObject) {
    return anything;
  }
  const std::string target = object_target(upstream.options, *request.s3);
  // Unlike resources of HTTP objects are not in each other.
  if (older->target != target) {
    return Bearing::kNone;
  }
  if (!plan.is_proven) {
    return anything;
  }
  http::After after{.exists = plan.buries || !plan.deletes, .etag = {}};
  if (plan.buries) {
    after.etag = std::string(kNewTag);  // No two tombstones have the same content.
  } else if (after.exists) {
    after.etag = tag_after_put(request, plan, held);
  }
  return http::bearing_on(*older, origin, target, after);
}

}  // namespace fenceline::backends::s3
