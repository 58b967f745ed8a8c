#include "backends/s3/object_write.h"

#include <string>
#include <utility>

#include "backends/http/errors.h"
#include "backends/http/held_request.h"
#include "backends/http/probe_calls.h"
#include "backends/s3/bodies.h"
#include "backends/s3/lost_answer.h"
#include "backends/s3/request_head.h"
#include "backends/s3/revoke.h"
#include "backends/s3/s3_answers.h"
#include "backends/s3/s3_backend.h"
#include "backends/s3/signing.h"
#include "backends/s3/write_plan.h"
#include "base/aws/sigv4.h"

namespace fenceline::backends::s3 {
namespace {

using base::Awaitable;
using base::Reply;
using base::Result;
using http::HeldRequest;
using http::Outgoing;
using StageResult = Result<std::unique_ptr<StagedWrite>>;

constexpr int kTries = 5;
constexpr int kNoContent = 204;
constexpr int kConflict = 409;
constexpr int kPreconditionFailed = 412;

// Statuses that a write gets whose condition does not hold any more, or was just being decided.
bool may_be_lost_race(int status) {
  return status == kPreconditionFailed || status == kConflict || http::is_absent(status);
}

/// One write, as the client of one request sees it. Plain data.
struct Subject {
  SharedS3 upstream;
  WritePlan plan;
  ResourceRequest request;
  base::Stamp stamp;
  std::optional<WriteIntent> intent = {};

  // The head of the write, not signed yet; under the condition that nobody has changed what was
  // seen.
  [[nodiscard]] Result<Outgoing> head_for(const ObjectState& seen) const {
    HeadParts parts{.takes_conditions = !plan.conditional, .stamp = &stamp};
    if (plan.conditional && !seen.exists) {
      parts.if_none_match = "*";
    } else if (plan.conditional && seen.etag.empty()) {
      return base::fail(base::ErrorKind::kUpstreamFailed,
                        "the upstream gives the object no ETag, so a write cannot be made "
                        "conditional; nothing was changed; use `commit: plain`");
    } else if (plan.conditional) {
      parts.if_match = tag_for(plan.tags, seen.etag);
    }
    return head_upstream(upstream->options, request, parts);
  }
};

class ObjectWrite final : public StagedWrite {
 public:
  ObjectWrite(Subject subject, ObjectState seen, std::unique_ptr<HeldRequest> held)
      : subject_(std::move(subject)),
        conditions_(subject_.request.head),
        seen_(std::move(seen)),
        held_(std::move(held)) {}

  [[nodiscard]] std::optional<WriteIntent> intent() const override { return subject_.intent; }

  [[nodiscard]] Bearing bearing_on(std::string_view data) const override {
    const auto held = held_->is_whole() ? std::optional(held_->body()) : std::nullopt;
    return s3::bearing_on(*subject_.upstream, subject_.request, subject_.plan, seen_.exists, held,
                          data);
  }

  Awaitable<Result<Reply>> commit() override {
    for (int attempt = 1;; ++attempt) {
      if (auto allowed = check(); !allowed) {
        co_return base::pass_on(allowed.error());
      }
      if (has_nothing_to_delete()) {
        co_return deleted_already();
      }
      if (auto signed_head = renew_head(); !signed_head) {
        co_return base::pass_on(signed_head.error());
      }
      auto outcome = co_await send();
      if (!outcome || !subject_.plan.conditional || !may_be_lost_race(outcome->status)) {
        co_return outcome;
      }
      auto now = co_await look_at(subject_.upstream, subject_.request);
      if (!now) {
        co_return base::pass_on(now.error());
      }
      const bool whole = held_->is_whole() && attempt < kTries;
      if (*now == seen_ && !(whole && may_hold_again(outcome->status))) {
        co_return outcome;  // Not about our condition.
      }
      const bool is_gone = subject_.plan.deletes && !now->exists;
      if (!is_gone && (!whole || !is_on_record(*now))) {
        co_return lost_to(*now);
      }
      seen_ = std::move(*now);
    }
  }

 private:
  [[nodiscard]] Result<void> check() const {
    return subject_.plan.conditional ? conditions_.check(seen_) : Result<void>();
  }

  // While others were deciding, or away from the state that was seen and back.
  [[nodiscard]] bool may_hold_again(int status) const {
    return status == kConflict ||
           (status == kPreconditionFailed && subject_.plan.pins_state && subject_.plan.tags_repeat);
  }

  // On record is the state that was seen: under another one nothing may be sent.
  [[nodiscard]] bool is_on_record(const ObjectState& now) const {
    return !subject_.plan.pins_state || (now.exists == seen_.exists && now.etag == seen_.etag);
  }

  [[nodiscard]] Result<Reply> lost_to(const ObjectState& now) const {
    auto allowed = conditions_.check(now);
    return tl::unexpected<base::Error>(allowed ? http::lost_race(subject_.request.name)
                                               : std::move(allowed.error()));
  }

  [[nodiscard]] bool has_nothing_to_delete() const {
    return subject_.plan.conditional && subject_.plan.deletes && !seen_.exists;
  }

  // S3 answers so, whether or not there was anything.
  static Reply deleted_already() {
    Reply reply;
    reply.status = kNoContent;
    return reply;
  }

  // A body that has left in part has its head there already.
  Result<void> renew_head() {
    if (!held_->is_whole()) {
      return {};
    }
    auto head = subject_.head_for(seen_);
    if (!head) {
      return base::pass_on(head.error());
    }
    const std::string hash = hash_of_held(subject_.request, held_->body());
    sign_upstream(subject_.upstream->options, *head, hash);
    held_->head() = std::move(*head);
    return {};
  }

  Awaitable<Result<Reply>> send() {
    Result<Reply> outcome = Reply();
    auto received = co_await held_->complete();
    if (received) {
      outcome = co_await write_outcome(subject_.upstream->http, std::move(*received),
                                       subject_.plan.hides_errors);
    } else {
      outcome = base::pass_on(received.error());
    }
    const bool lost = !outcome && outcome.error().applied == base::Applied::kUnknown;
    if (lost && subject_.plan.stamps) {
      co_return co_await find_lost_answer(subject_.upstream, subject_.request, subject_.stamp,
                                          std::move(outcome.error()));
    }
    co_return outcome;
  }

  Subject subject_;
  ClientConditions conditions_;
  ObjectState seen_;
  std::unique_ptr<HeldRequest> held_;
};

// Of a body that streams the head goes out with its first bytes.
void sign_for_streaming(const Subject& subject, Outgoing& head) {
  const auto declared = declared_hash(subject.request);
  sign_upstream(subject.upstream->options, head, declared.value_or(base::aws::kUnsignedPayload));
}

// An answer that came before the last byte.
Awaitable<StageResult> refused_early(SharedS3 upstream, http::Received received) {
  const int status = received.head.status;
  if (http::meaning_of(status, received.complete) == http::Meaning::kInDoubt) {
    co_return tl::unexpected<base::Error>(http::in_doubt(status, received.complete));
  }
  auto reply = co_await client_reply(upstream->http, std::move(received), false);
  co_return http::refused_write(std::move(reply));
}

Awaitable<StageResult> take_body(Subject subject, ObjectState seen, Outgoing head,
                                 base::BodySource& from) {
  const S3Options& options = subject.upstream->options;
  const S3Request& s3 = *subject.request.s3;
  TextBody document(s3.document);
  base::BodySource* source = &document;
  if (s3.document.empty() && s3.body != nullptr) {
    source = &from;
  }
  BoundedBody body(*source, options.unknown_length_bytes);
  const auto declared = body.declared_bytes();
  const std::size_t whole = declared ? options.hold_bytes : options.unknown_length_bytes;
  if (declared && *declared > whole) {
    sign_for_streaming(subject, head);
  }
  auto held = std::make_unique<HeldRequest>(subject.upstream->http, *subject.request.timers,
                                            std::move(head));
  held->declare_empty_body(http::declares_empty_body(subject.request.head));
  auto early = co_await held->take(body, whole);
  if (!early) {
    co_return base::pass_on(early.error());
  }
  if (*early) {
    if (subject.plan.conditional && may_be_lost_race((*early)->head.status)) {
      co_return tl::unexpected<base::Error>(http::lost_race(subject.request.name));
    }
    co_return co_await refused_early(subject.upstream, std::move(**early));
  }
  std::unique_ptr<StagedWrite> staged =
      std::make_unique<ObjectWrite>(std::move(subject), std::move(seen), std::move(held));
  co_return staged;
}

}  // namespace

Awaitable<StageResult> stage_write(SharedS3 upstream, std::shared_ptr<const S3Standing> standing,
                                   ResourceRequest request, base::BodySource& body,
                                   base::Stamp stamp) {
  const auto plan = plan_of(*standing, request);
  Subject subject{
      .upstream = std::move(upstream), .plan = plan, .request = request, .stamp = std::move(stamp)};
  ObjectState seen;
  if (subject.plan.conditional) {
    auto found = co_await look_at(subject.upstream, request);
    if (!found) {
      co_return base::pass_on(found.error());
    }
    seen = std::move(*found);
  }
  subject.intent = intent_of(*subject.upstream, *standing, request, subject.plan, seen);
  auto head = subject.head_for(seen);
  if (!head) {
    co_return base::pass_on(head.error());
  }
  co_return co_await take_body(std::move(subject), std::move(seen), std::move(*head), body);
}

}  // namespace fenceline::backends::s3
