#include "backends/http/move_write.h"

#include <boost/asio/io_context.hpp>
#include <exception>
#include <string>
#include <utility>

#include "backends/http/answers.h"
#include "backends/http/burned.h"
#include "backends/http/current_context.h"
#include "backends/http/errors.h"
#include "backends/http/forwarded_fields.h"
#include "backends/http/held_request.h"
#include "backends/http/look.h"
#include "backends/http/revoke.h"
#include "backends/http/upstream_target.h"
#include "base/conditions.h"
#include "base/spawn.h"

namespace fenceline::backends::http {
namespace {

using base::Awaitable;
using base::FieldLines;
using base::Reply;
using base::Result;

constexpr int kCreated = 201;
constexpr int kNoContent = 204;
constexpr int kNotFound = 404;
constexpr int kConflict = 409;
constexpr int kPreconditionFailed = 412;

Awaitable<void> delete_in_background(SharedUpstream upstream, base::TimerWheel* timers,
                                     std::string target, FieldLines fields) {
  auto deleted =
      co_await delete_temporary(std::move(upstream), *timers, std::move(target), std::move(fields));
  // Best effort: what stays behind is garbage under a name that nobody uses again.
}

/// A temporary resource, deleted in the background unless it is let go. On one core.
class Temporary {
 public:
  Temporary(SharedUpstream upstream, const ResourceRequest& request, std::string target,
            boost::asio::io_context& context)
      : upstream_(std::move(upstream)),
        request_(request),
        target_(std::move(target)),
        context_(context) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!exists_) {
      return;
    }
    auto fields = this->fields();
    if (fields) {
      base::spawn(context_,
                  delete_in_background(upstream_, request_.timers, target_, std::move(*fields)),
                  [](const std::exception_ptr&) {});
    }
  }

  [[nodiscard]] const std::string& target() const { return target_; }
  void may_exist() { exists_ = true; }
  void is_gone() { exists_ = false; }

  /// For requests about it: the client's, so that its credentials are there.
  [[nodiscard]] Result<FieldLines> fields() const {
    return fields_upstream(upstream_->options, request_, {.conditions = false, .content = false});
  }

 private:
  SharedUpstream upstream_;
  ResourceRequest request_;
  std::string target_;
  boost::asio::io_context& context_;
  bool exists_ = false;
};

class MoveWrite final : public StagedWrite {
 public:
  MoveWrite(SharedUpstream upstream, ResourceRequest request, base::Conditions conditions,
            std::string target, std::unique_ptr<Temporary> temporary)
      : upstream_(std::move(upstream)),
        request_(request),
        conditions_(std::move(conditions)),
        target_(std::move(target)),
        temporary_(std::move(temporary)) {}

  [[nodiscard]] std::optional<WriteIntent> intent() const override {
    const IntentTarget intent{.kind = IntentTarget::Kind::kTemporary,
                              .origin = upstream_->origin,
                              .target = temporary_->target()};
    return WriteIntent{.data = encode_intent(intent), .shared = false};
  }

  [[nodiscard]] Bearing bearing_on(std::string_view data) const override {
    return bearing_of_plain(data, upstream_->origin, "PUT", target_);
  }

  Awaitable<Result<Reply>> commit() override {
    auto fields = temporary_->fields();
    if (!fields) {
      co_return base::pass_on(fields.error());
    }
    if (!conditions_.empty()) {
      auto checked = co_await check_conditions();
      if (!checked) {
        co_return base::pass_on(checked.error());
      }
    }
    const Outgoing move = move_request(std::move(*fields));
    auto received = co_await send_to(upstream_, *request_.timers, move, std::nullopt, kNoBody,
                                     Resend::kIfUnsent);
    if (!received) {
      if (received.error().applied == base::Applied::kNo) {
        co_return base::pass_on(received.error());
      }
      co_return co_await withdraw(std::move(received.error()));
    }
    co_return co_await conclude(std::move(*received));
  }

 private:
  Outgoing move_request(FieldLines fields) const {
    const std::string host(fields.find("Host").value_or(""));
    fields.add("Destination", destination_of(upstream_->options.client, host, target_));
    fields.add("Overwrite", creates_only() ? "F" : "T");
    return {.method = "MOVE", .target = temporary_->target(), .fields = std::move(fields)};
  }

  [[nodiscard]] bool creates_only() const {
    return request_.head.only("If-None-Match") == std::string_view("*");
  }

  Awaitable<Result<void>> check_conditions() {
    auto fields = temporary_->fields();
    if (!fields) {
      co_return base::pass_on(fields.error());
    }
    auto seen = co_await look(upstream_, *request_.timers, target_, std::move(*fields));
    if (!seen) {
      co_return base::pass_on(seen.error());
    }
    if (conditions_.evaluate(seen->state()) != base::Verdict::kProceed) {
      co_return tl::unexpected<base::Error>(condition_failed(request_.name));
    }
    co_return Result<void>();
  }

  Awaitable<Result<Reply>> conclude(Received received) {
    const int status = received.head.status;
    if (status == kCreated || status == kNoContent) {
      temporary_->is_gone();
      auto drained = co_await received.exchange->read_all(kSmallBodyBytes);
      Reply reply;
      reply.status = status;
      co_return reply;
    }
    if (status / 100 != 4) {
      co_return co_await withdraw(in_doubt(status, true));
    }
    auto refusal = co_await short_reply_from(upstream_, std::move(received));
    if (status == kPreconditionFailed && creates_only()) {
      co_return tl::unexpected<base::Error>(condition_failed(request_.name));
    }
    if (status == kNotFound || status == kConflict || status == kPreconditionFailed) {
      auto there = co_await temporary_is_there();
      if (there && !*there) {
        temporary_->is_gone();
        co_return tl::unexpected<base::Error>(revoked_by_newer());
      }
    }
    co_return refusal;
  }

  Awaitable<Result<bool>> temporary_is_there() {
    auto fields = temporary_->fields();
    if (!fields) {
      co_return base::pass_on(fields.error());
    }
    auto seen =
        co_await look(upstream_, *request_.timers, temporary_->target(), std::move(*fields));
    if (!seen) {
      co_return base::pass_on(seen.error());
    }
    co_return seen->exists;
  }

  // Nobody knows whether the MOVE took effect. Where its source can still be deleted it did not,
  // and never will.
  Awaitable<Result<Reply>> withdraw(base::Error unknown) {
    const auto standing = upstream_->watch->standing();
    auto fields = temporary_->fields();
    if (standing == nullptr || !standing->move_proven || !fields) {
      co_return tl::unexpected<base::Error>(std::move(unknown));
    }
    auto deleted = co_await delete_temporary(upstream_, *request_.timers, temporary_->target(),
                                             std::move(*fields));
    if (deleted) {
      temporary_->is_gone();
      if (*deleted) {
        unknown.applied = base::Applied::kNo;
        unknown.detail += "; the write was withdrawn, and did not take effect";
      }
    }
    co_return tl::unexpected<base::Error>(std::move(unknown));
  }

  SharedUpstream upstream_;
  ResourceRequest request_;
  base::Conditions conditions_;
  std::string target_;
  std::unique_ptr<Temporary> temporary_;
};

Result<Outgoing> put_request(const Upstream& upstream, const ResourceRequest& request,
                             const Temporary& temporary) {
  auto fields = fields_upstream(upstream.options, request, {.conditions = false, .content = true});
  if (!fields) {
    return base::pass_on(fields.error());
  }
  return Outgoing{.method = "PUT", .target = temporary.target(), .fields = std::move(*fields)};
}

// PUTs the body under the temporary name. Success: the answer.
Awaitable<Result<Received>> upload(SharedUpstream upstream, ResourceRequest request,
                                   base::BodySource& body, Temporary& temporary) {
  auto out = put_request(*upstream, request, temporary);
  if (!out) {
    co_return base::pass_on(out.error());
  }
  HeldRequest put(upstream, *request.timers, std::move(*out));
  auto early = co_await put.take(body, kSmallBodyBytes);
  if (!early) {
    if (!put.is_whole()) {
      temporary.may_exist();  // It should not, but servers differ in what they do with a part.
    }
    co_return base::pass_on(early.error());
  }
  temporary.may_exist();
  if (*early) {
    co_return std::move(**early);
  }
  auto received = co_await put.complete();
  if (!received) {
    // Whatever became of it: nobody will move it to its target.
    co_return tl::unexpected<base::Error>(without_effect(std::move(received.error())));
  }
  co_return received;
}

}  // namespace

Awaitable<Result<std::unique_ptr<StagedWrite>>> stage_move(SharedUpstream upstream,
                                                           ResourceRequest request,
                                                           base::BodySource& body,
                                                           base::Token token) {
  auto conditions = base::Conditions::parse(request.head);
  if (!conditions) {
    co_return base::pass_on(conditions.error());
  }
  const std::string target = target_of(upstream->options.base_path, request.name, false, {});
  const std::string name = temporary_beside(target, upstream->unique.next().view(), token);
  auto* context = co_await current_context();
  auto temporary = std::make_unique<Temporary>(upstream, request, name, *context);
  auto received = co_await upload(upstream, request, body, *temporary);
  if (!received) {
    co_return base::pass_on(received.error());
  }
  const int status = received->head.status;
  const bool half_taken = !received->complete && status / 100 != 4;
  if (status / 100 == 5 || half_taken) {
    co_return tl::unexpected<base::Error>(
        step_failed("cannot stage the body under a temporary name", status));
  }
  auto answer = co_await short_reply_from(upstream, std::move(*received));
  if (status / 100 != 2) {
    co_return refused_write(std::move(answer));
  }
  std::unique_ptr<StagedWrite> staged = std::make_unique<MoveWrite>(
      std::move(upstream), request, *std::move(conditions), target, std::move(temporary));
  co_return staged;
}

}  // namespace fenceline::backends::http
