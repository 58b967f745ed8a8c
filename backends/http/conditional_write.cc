#include "backends/http/conditional_write.h"

#include <algorithm>
#include <string>
#include <utility>

#include "backends/http/answers.h"
#include "backends/http/burned.h"
#include "backends/http/errors.h"
#include "backends/http/forwarded_fields.h"
#include "backends/http/held_request.h"
#include "backends/http/look.h"
#include "backends/http/probe_calls.h"
#include "backends/http/upstream_target.h"
#include "base/conditions.h"

namespace fenceline::backends::http {
namespace {

using base::Awaitable;
using base::FieldLines;
using base::Reply;
using base::Result;

constexpr int kTries = 5;
constexpr int kConflict = 409;
constexpr int kPreconditionFailed = 412;

// Statuses that a write gets whose condition does not hold any more.
bool may_be_lost_race(int status) {
  return status == kPreconditionFailed || status == kConflict || is_absent(status);
}

/// One resource, as the client of one request sees it. Plain data.
struct Subject {
  SharedUpstream upstream;
  ResourceRequest request;
  std::string target;
  Conditions known = Conditions::kUnproven;

  [[nodiscard]] bool deletes() const { return request.head.method == base::Method::kDelete; }

  [[nodiscard]] Awaitable<Result<Seen>> look_at() const {
    auto fields =
        fields_upstream(upstream->options, request, {.conditions = false, .content = false});
    if (!fields) {
      return Awaitable<Result<Seen>>::ready(base::pass_on(fields.error()));
    }
    return look(upstream, *request.timers, target, std::move(*fields));
  }

  // The head of the write, under the condition that nobody has changed what was seen.
  [[nodiscard]] Result<Outgoing> head_for(const Seen& seen) const {
    auto fields =
        fields_upstream(upstream->options, request,
                        {.conditions = false, .content = true, .depth = depth_of(request)});
    if (!fields) {
      return base::pass_on(fields.error());
    }
    if (!seen.exists) {
      fields->add("If-None-Match", "*");
    } else if (seen.has_strong_tag() &&
               (known != Conditions::kReturningTags || can_be_burned(seen.etag))) {
      fields->add("If-Match", seen.etag);
    } else {
      return base::fail(
          base::ErrorKind::kUpstreamFailed,
          "the upstream gives the resource no strong, short ETag, so a write cannot be "
          "made conditional; nothing was changed; use another commit mode");
    }
    return Outgoing{
        .method = deletes() ? "DELETE" : "PUT", .target = target, .fields = std::move(*fields)};
  }
};

class ConditionalWrite final : public StagedWrite {
 public:
  ConditionalWrite(Subject subject, base::Conditions conditions, Seen seen,
                   std::unique_ptr<HeldRequest> held)
      : subject_(std::move(subject)),
        conditions_(std::move(conditions)),
        seen_(std::move(seen)),
        existed_(seen_.exists),
        tag_(seen_.etag),
        held_(std::move(held)) {}

  [[nodiscard]] std::optional<WriteIntent> intent() const override {
    if (subject_.known == Conditions::kUnproven) {
      return WriteIntent{.data = {}, .shared = true};
    }
    if (!existed_ && subject_.deletes()) {
      return std::nullopt;  // Nothing will be sent.
    }
    IntentTarget intent{.kind = IntentTarget::Kind::kChange,
                        .origin = subject_.upstream->origin,
                        .target = subject_.target,
                        .etag = {}};
    if (!existed_) {
      intent.kind = IntentTarget::Kind::kCreation;
    } else if (subject_.known == Conditions::kReturningTags) {
      intent.kind = IntentTarget::Kind::kReturning;
      intent.etag = tag_;
    }
    // What is about one state is off the record when it has ended: left there it would, after a
    // crash, hold back who wants that state.
    const bool shared = intent.kind == IntentTarget::Kind::kChange;
    return WriteIntent{.data = encode_intent(intent), .shared = shared};
  }

  [[nodiscard]] Bearing bearing_on(std::string_view data) const override {
    const auto older = decode_intent(data);
    if (!older) {
      return Bearing::kNone;
    }
    const After after{.exists = !subject_.deletes(), .etag = std::nullopt};
    const Bearing bearing =
        http::bearing_on(*older, subject_.upstream->origin, subject_.target, after);
    const bool trusted = subject_.known != Conditions::kUnproven;
    return bearing == Bearing::kReplaces && !trusted ? Bearing::kNone : bearing;
  }

  Awaitable<Result<Reply>> commit() override {
    for (int attempt = 0; attempt < kTries; ++attempt) {
      auto allowed = check();
      if (!allowed) {
        co_return base::pass_on(allowed.error());
      }
      auto received = co_await held_->complete();
      if (!received) {
        co_return base::pass_on(received.error());
      }
      const int status = received->head.status;
      if (!may_be_lost_race(status)) {
        co_return co_await outcome_of(subject_.upstream, std::move(*received));
      }
      auto refusal = co_await short_reply_from(subject_.upstream, std::move(*received));
      auto now = co_await subject_.look_at();
      if (!now) {
        co_return base::pass_on(now.error());
      }
      // A state that can come back was perhaps gone for a moment: a tag that returns, or nothing
      // being there, while somebody's creation came and was deleted.
      const bool may_be_back = status == kPreconditionFailed &&
                               (subject_.known == Conditions::kReturningTags || !seen_.exists);
      if (*now == seen_ && !may_be_back) {
        co_return refusal;  // Not about our condition.
      }
      auto renewed = start_again(std::move(*now));
      if (!renewed) {
        co_return base::pass_on(renewed.error());
      }
    }
    co_return tl::unexpected<base::Error>(lost_race(subject_.request.name));
  }

 private:
  Result<void> check() const {
    if (conditions_.evaluate(seen_.state()) != base::Verdict::kProceed) {
      return tl::unexpected<base::Error>(condition_failed(subject_.request.name));
    }
    if (subject_.deletes() && !seen_.exists) {
      return base::fail(base::ErrorKind::kNotFound, "there is no such resource to delete");
    }
    return {};
  }

  Result<void> start_again(Seen now) {
    seen_ = std::move(now);
    auto allowed = check();
    if (!allowed) {
      return allowed;
    }
    // What is on record is about the state that was there: a change is no creation, and where tags
    // return each is about its own.
    const bool fits = existed_ == seen_.exists && subject_.known != Conditions::kReturningTags;
    if (!held_->is_whole() || !fits) {
      return tl::unexpected<base::Error>(lost_race(subject_.request.name));
    }
    auto head = subject_.head_for(seen_);
    if (!head) {
      return base::pass_on(head.error());
    }
    held_->head() = std::move(*head);
    return {};
  }

  Subject subject_;
  base::Conditions conditions_;
  Seen seen_;
  const bool existed_;  ///< When it was staged; what the intent says.
  const std::string tag_;
  std::unique_ptr<HeldRequest> held_;
};

}  // namespace

Awaitable<Result<std::unique_ptr<StagedWrite>>> stage_conditional(SharedUpstream upstream,
                                                                  ResourceRequest request,
                                                                  base::BodySource& body,
                                                                  Conditions known) {
  auto conditions = base::Conditions::parse(request.head);
  if (!conditions) {
    co_return base::pass_on(conditions.error());
  }
  const Subject subject{.upstream = upstream,
                        .request = request,
                        .target = target_of(upstream->options.base_path, request.name,
                                            request.names_directory, request.head.query),
                        .known = known};
  auto seen = co_await subject.look_at();
  if (!seen) {
    co_return base::pass_on(seen.error());
  }
  auto head = subject.head_for(*seen);
  if (!head) {
    co_return base::pass_on(head.error());
  }
  auto held = std::make_unique<HeldRequest>(upstream, *request.timers, std::move(*head));
  held->declare_empty_body(declares_empty_body(request.head));
  const std::size_t whole = std::max(kSmallBodyBytes, upstream->options.retry_body_bytes);
  auto early = co_await held->take(body, whole);
  if (!early) {
    co_return base::pass_on(early.error());
  }
  if (*early) {
    if (may_be_lost_race((*early)->head.status)) {
      co_return tl::unexpected<base::Error>(lost_race(request.name));
    }
    co_return co_await refused_early(upstream, std::move(**early));
  }
  std::unique_ptr<StagedWrite> staged = std::make_unique<ConditionalWrite>(
      subject, *std::move(conditions), *std::move(seen), std::move(held));
  co_return staged;
}

}  // namespace fenceline::backends::http
