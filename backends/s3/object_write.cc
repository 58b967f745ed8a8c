#include "backends/s3/object_write.h"

#include <algorithm>
#include <string>
#include <string_view>
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
#include "backends/s3/tombstone.h"
#include "backends/s3/trailed_body.h"
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
  std::string tombstone = {};  ///< The content of the one that is written; else empty.
  std::optional<base::aws::AwsChunkedFrames> frames = {};  ///< Of a body that streams in them.
  std::string source_etag = {};  ///< The source of a copy has to have it still; empty: whichever.

  // The head of the write, not signed yet; under the condition that nobody has changed what was
  // seen.
  [[nodiscard]] Result<Outgoing> head_for(const ObjectState& seen) const {
    HeadParts parts{.takes_conditions = !plan.conditional, .stamp = &stamp, .frames = frames};
    if (plan.conditional && !seen.exists) {
      parts.if_none_match = "*";
    } else if (plan.conditional && seen.etag.empty()) {
      return base::fail(base::ErrorKind::kUpstreamFailed,
                        "the upstream gives the object no ETag, so a write cannot be made "
                        "conditional; nothing was changed; use `commit: plain`");
    } else if (plan.conditional) {
      parts.if_match = tag_for(plan.tags, seen.etag);
    }
    if (plan.buries) {
      return tombstone_head(upstream->options, request, stamp, parts.if_match);
    }
    parts.copy_source_if_match = tag_for(plan.tags, source_etag);
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
    return s3::bearing_on(*subject_.upstream, subject_.request, subject_.plan, seen_, held, data);
  }

  Awaitable<Result<Reply>> commit() override {
    // As late as can be: another key has another fence, so nothing holds still what is looked at.
    auto needed = co_await look_at_needed(subject_.upstream, subject_.request);
    if (!needed) {
      co_return base::pass_on(needed.error());
    }
    subject_.source_etag = std::move(needed->source_etag);
    for (int attempt = 1;; ++attempt) {
      if (auto allowed = check(); !allowed) {
        co_return base::pass_on(allowed.error());
      }
      if (subject_.plan.sends_nothing(seen_)) {
        co_return deleted();
      }
      if (auto signed_head = renew_head(); !signed_head) {
        co_return base::pass_on(signed_head.error());
      }
      auto outcome = co_await send();
      if (!outcome || !subject_.plan.conditional || !may_be_lost_race(outcome->status)) {
        co_return told(std::move(outcome));
      }
      auto now = co_await look_at(subject_.upstream, subject_.request);
      if (!now) {
        co_return base::pass_on(now.error());
      }
      const bool whole = held_->is_whole() && attempt < kTries;
      if (*now == seen_ && !(whole && may_hold_again(outcome->status))) {
        co_return told(std::move(outcome));  // Not about our condition on this object.
      }
      const bool is_gone = subject_.plan.sends_nothing(*now);
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

  // What the client is told of an answer that stands.
  [[nodiscard]] Result<Reply> told(Result<Reply> outcome) const {
    if (outcome && subject_.plan.buries && outcome->status / 100 == 2) {
      return deleted();
    }
    // A condition of the client's own on a plain write may be what did not hold.
    const bool is_source = !subject_.source_etag.empty() &&
                           (subject_.plan.conditional || !conditions_.any()) &&
                           !has_source_condition(subject_.request.head);
    if (outcome && is_source && outcome->status == kPreconditionFailed) {
      return tl::unexpected<base::Error>(http::lost_race(subject_.request.name));
    }
    return outcome;
  }

  // S3 answers so, whether or not there was anything.
  static Reply deleted() {
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
    const std::string hash = subject_.plan.buries ? base::aws::sha256_hex(held_->body())
                                                  : hash_of_held(subject_.request, held_->body());
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
      outcome = co_await find_lost_answer(subject_.upstream, subject_.request, subject_.stamp,
                                          std::move(outcome.error()));
    }
    if (outcome && !subject_.source_etag.empty() && outcome->status / 100 == 2) {
      outcome =
          co_await check_what_was_copied(subject_.upstream, subject_.request, std::move(*outcome));
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
  sign_upstream(subject.upstream->options, head,
                subject.frames ? base::aws::kStreamingUnsignedTrailer
                               : declared.value_or(base::aws::kUnsignedPayload));
}

// The end of such a body says that it is complete in three ways: by its length, by the length of
// the content and by the empty chunk. All of that stays here, and the checksum.
Awaitable<Result<std::optional<http::Received>>> take_trailed(
    HeldRequest& held, base::BodySource& body, const base::aws::VerifiedBody& checked,
    base::aws::AwsChunkedFrames frames, std::size_t whole_bytes) {
  TrailedBody trailed(body, checked, frames);
  held.hold_back(1 + frames.end_bytes());
  co_return co_await held.take(trailed, whole_bytes);
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
  const std::string_view ours = subject.plan.buries ? subject.tombstone : s3.document;
  TextBody text(ours);
  base::BodySource* source = &text;
  if (ours.empty() && s3.body != nullptr) {
    source = &from;
  }
  BoundedBody body(*source, options.unknown_length_bytes);
  const auto declared = body.declared_bytes();
  const std::size_t limit = declared ? options.hold_bytes : options.unknown_length_bytes;
  const std::size_t whole = std::max(limit, subject.tombstone.size());
  if (declared && *declared > whole) {
    sign_for_streaming(subject, head);
  }
  auto held = std::make_unique<HeldRequest>(subject.upstream->http, *subject.request.timers,
                                            std::move(head));
  held->declare_empty_body(http::declares_empty_body(subject.request.head));
  auto taking = subject.frames ? take_trailed(*held, body, *s3.body, *subject.frames, whole)
                               : held->take(body, whole);
  auto early = co_await std::move(taking);
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
  subject.frames = frames_of(subject.upstream->options, *standing, *request.s3);
  if (plan.buries) {
    subject.tombstone = new_tombstone();
  }
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
